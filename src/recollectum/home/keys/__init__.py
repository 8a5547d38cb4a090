"""The master key: who holds it, how it is wrapped, and how it comes back after a loss."""
