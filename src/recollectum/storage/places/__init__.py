"""Lets the vaults of a home be in two places, files and a database, and moves them while they are used.

vault_places       knows where each vault is
routed_engine      opens each vault where it is
routed_upkeep      copies, verifies and restores each vault where it is
routed_rewriting   gives each vault a new key where it is
followed_database  follows a vault that is moved while it is open
vault_move         moves one vault
file_moves         the files as one side of a move
database_moves     the database as one side of a move
"""
