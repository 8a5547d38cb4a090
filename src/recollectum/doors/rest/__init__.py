"""The vault over HTTP and JSON."""
