"""Assembles what a model gets to see, inside a token budget. Pure functions.

compiler   compiles all parts into one context
parts      fills each part up to its share of the budget
window     the newest turns that fit, and the messages to summarise
rendering  each part as text
fences     marks around untrusted text that it cannot forge
echoes     finds served blocks in incoming text by their marks
asides     cuts what Gemini CLI writes around a person's words
served     splits a served text into blocks that are recognised without marks
"""
