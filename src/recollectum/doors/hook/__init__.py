"""Hooks: agents call them as they work, so that recall and recording need no tool call."""
