"""New keys for vaults, a new master key, and another place for the keys.

settling    finishes or undoes a change of keys that was interrupted
vault_keys  gives vaults new keys
master_key  replaces the master key
key_places  moves the keys into a keys database, or back
backups     wraps the keys in backups by the new master key
"""
