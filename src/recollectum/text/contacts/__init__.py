"""Reads English statements about people and how to reach them.

addresses   phone numbers, e-mail addresses and handles
vocabulary  relations, and words that are not names
hints       whether a text may tell of a contact, quickly
grammar     the forms of statements as regular expressions
statements  reads the statements of a text
"""
