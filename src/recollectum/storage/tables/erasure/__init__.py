"""Tables and statements of purges.

erased           the catalog's ledger of erased items
erased_items     active purges and their remaining items
erased_lineage   selects what a purge covers
erased_rows      deletes it
remaining_texts  searches what remains
purge_samples    what is kept of a purge's samples until the files are searched
receipts         signed receipts
"""
