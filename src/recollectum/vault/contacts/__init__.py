"""Contacts, as far as memories describe them.

service  resolves words to one contact
linkage  links statements to contacts (record linkage)
"""
