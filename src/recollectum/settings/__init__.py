"""Four scopes of settings merged into one validated value."""
