"""Extraction with a language model.

instructions  a conversation in windows, prompts and answer schemas; the texts are in `prompts/`
answers       verifies quotations and claims of a model
choices       a small model chooses among sentences
"""
