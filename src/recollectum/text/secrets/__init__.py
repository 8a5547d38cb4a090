"""Finds secrets in texts and redacts them.

patterns         secrets by token format, and by the name assigned to them
account_numbers  payment cards and bank accounts, by their check digits
redaction        finds all of them and replaces each by `[secret:kind]`
"""
