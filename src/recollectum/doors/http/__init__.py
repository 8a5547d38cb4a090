"""What every door over HTTP shares: who is visiting, what is refused, and how an error is said."""
