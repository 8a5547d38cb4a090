"""Extraction without a model.

statements   first-person statements, by their English form
corrections  attributes of a person, and corrections of known ones
findings     all findings of a conversation by rules
"""
