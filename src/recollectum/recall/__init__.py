"""Query in, hits out."""
