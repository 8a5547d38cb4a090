"""What happens by itself: conversations that fell silent become what is known."""
