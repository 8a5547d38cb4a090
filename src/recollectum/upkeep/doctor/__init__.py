"""Checks of a home and its vaults.

examination   runs all checks and lists the findings
home_checks   findings; permissions, disk space, locks, leftovers
vault_checks  keys, orphan files, integrity of each vault
"""
