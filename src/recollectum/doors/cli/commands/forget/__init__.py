"""Commands that delete, undo and erase, and that show what happened.

purge       erases for good, with a receipt
receipts    lists and verifies receipts
trash       lists and restores what was deleted
undo        undoes changes, and shows what changed since a time
quarantine  takes one source out of recall
lifecycle   previews and runs steps that are due, and reports sweeps
events      the audit trail
"""
