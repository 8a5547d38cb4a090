"""The vault over the Model Context Protocol."""
