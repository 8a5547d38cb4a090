"""Reads English statements about people and how to reach them.

addresses   phone numbers, e-mail addresses and handles
vocabulary  relations, and words that are not names
grammar     the forms of statements as regular expressions
statements  reads the statements of a text
"""
