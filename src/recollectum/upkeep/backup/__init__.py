"""Backup, restore and repair.

backup         copies a home and verifies the copy
extension_files  the extensions of a home in a backup
manifest_file  the list of files in a backup, with digests
staging        unpacks a backup and verifies it
restore        restores vaults or a whole home
repair         salvages a damaged vault
"""
