"""One process that serves all doors over HTTP and does the upkeep."""
