"""What one may do: one service per noun, and the gate in front of all of them."""
