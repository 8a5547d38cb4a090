"""Pure decisions: what is due, what is allowed, what is the same."""
