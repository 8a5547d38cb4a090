"""The projects of a vault.

service   lists, adds, renames, moves and forgets projects
"""
