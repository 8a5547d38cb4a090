"""In and out: one file per foreign format."""
