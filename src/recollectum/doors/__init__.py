"""How one comes in: translate, call a service, translate back."""
