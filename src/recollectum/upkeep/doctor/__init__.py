"""Checks of a home and its vaults.

examination   runs all checks and lists the findings
extension_checks  the files of extensions
home_checks   findings; permissions, disk space, locks, leftovers, the database server, other hosts
model_checks  the embedding model and its files
place_checks  a home on a network file system or in a synced folder
vault_checks  keys, orphan files, integrity of each vault
"""
