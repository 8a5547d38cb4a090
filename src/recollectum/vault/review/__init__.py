"""Proposals that wait for a person.

service  the inbox: enqueues, lists, approves and rejects
reading  loads proposals as a reader may see them
writing  writes a finding to memories
"""
