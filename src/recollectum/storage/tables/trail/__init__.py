"""Tables that record what happened to a vault.

events       the audit trail
undo         states before each change
sweeps       reports of retention sweeps
quarantines  quarantined sources
seals        a checksum per row
meta         named facts about the vault
progress     the numbers of the last event and of the last chunk
health       counts for the check of a vault
"""
