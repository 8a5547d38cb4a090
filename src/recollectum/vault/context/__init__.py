"""The context that a model gets before it answers.

build    builds a context within a token budget
profile  makes and caches the owner's profile
"""
