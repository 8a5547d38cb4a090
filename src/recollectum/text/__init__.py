"""Pure functions on text. Standard library only."""
