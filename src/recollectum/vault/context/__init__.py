"""The context that a model gets before it answers.

build      builds a context within a token budget
injection  chooses the memories that are told at the start of a session and with a prompt
profile    makes and caches the owner's profile
"""
