"""Contacts that memories describe.

service  resolves words to one contact
linkage  links statements to contacts (record linkage)
"""
