"""Extraction with a language model.

windows       a conversation in windows that a model can read
instructions  prompts and answer schemas; the texts are in `prompts/`
answers       verifies quotations and claims of a model
choices       a small model chooses among sentences
"""
