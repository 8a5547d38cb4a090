"""Lets the vaults of a home be in two places, files or databases, and moves them and the catalog while they are used.

vault_places       knows where the catalog and each vault are
routed_engine      opens each vault where it is
routed_upkeep      copies, verifies and restores each vault where it is
routed_rewriting   gives each vault a new key where it is
followed_database  follows a vault or the catalog that is moved while it is open
vault_move         moves one vault
catalog_move       moves the catalog
catalog_state      says what the catalog of one place is: used, copied or left
catalog_finding    finds the catalog that is used
file_moves         the files as one side of a move
database_moves     a database as one side of a move
"""
