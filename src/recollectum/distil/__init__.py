"""Conversation to knowledge: values in, findings out; nothing here knows a database."""
