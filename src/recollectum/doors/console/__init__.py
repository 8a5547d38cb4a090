"""The pages on which a person sees, corrects and forgets what is known about them."""
