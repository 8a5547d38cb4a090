"""New keys for vaults, and a new master key.

settling    finishes or undoes a change of keys that was interrupted
vault_keys  gives vaults new keys
master_key  replaces the master key
backups     wraps the keys in backups by the new master key
"""
