"""What agents learned about working with a person.

service   the public operations on learnings
saving    stores a learning as a memory
sync      syncs LEARNINGS.md and the vault in both directions
document  parses and edits LEARNINGS.md
merge     three-way merge of file and vault
"""
