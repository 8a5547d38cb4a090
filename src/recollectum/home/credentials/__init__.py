"""Credentials: API keys and OAuth tokens, in the keyring where one works, else in a sealed file."""
