"""What agents call by themselves at set moments of a conversation."""
