"""What the model gets to see: pure assembly inside a budget."""
