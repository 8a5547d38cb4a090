"""One module per table: its SQL and its row mapping.

content       what people said and what is remembered
agent_state   what agents keep besides: commands of shells, small documents
index         chunks, vectors and the IVF index; rebuildable
learning      consolidation, review and learnings
erasure       purges, their ledger and receipts
trail         audit events, undo, quarantine and checksums
catalog       people, vaults, keys and upkeep of the whole home
folding       names as the tables compare them
parameters    refuses texts that not every engine can store or compare
row_decoding  tells an error of a damaged row from any other
"""
