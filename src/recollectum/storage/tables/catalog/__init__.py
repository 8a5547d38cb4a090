"""Tables of the catalog, the database of the whole home.

people             people, their identities and tenants
vaults             the vault file of each owner
hosts              the homes that use these vaults, and which keeps whose files
keys               API keys and grants
merges             merged people
leases             locks that hold across all hosts
rounds             the last run of each kind of upkeep
repeats            idempotency keys
vault_marks        how far each vault was when it was last seen
catalog_changes    how many changes were made in the catalog
latest_time        the latest time that the home has seen
backups_elsewhere  backups that were made outside the home
"""
