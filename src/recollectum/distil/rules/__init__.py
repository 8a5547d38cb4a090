"""Extraction without a model.

statements         first-person statements, by their English form
clauses            the clauses of a sentence that its writer claims
standing_requests  lasting requests to the assistant
corrections        attributes of a person, and corrections of known ones
findings           all findings of a conversation by rules
"""
