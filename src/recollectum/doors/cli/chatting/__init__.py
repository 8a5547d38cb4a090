"""The reference agent of the terminal: one whole turn, its commands, and what happens around it."""
