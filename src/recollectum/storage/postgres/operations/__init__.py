"""What an operator does with a database: looks at it, changes its schema, and gives vaults new keys.

server           what the doctor finds out about the server and the database
server_checks    version, durability, vacuum, standbys and poolers
schema_checks    rights, row-level security, columns and functions, against what the steps made
index_checks     the indexes that the shipped steps make, and those that the database has
identity         whether two addresses lead to one database, or to one server
schema_upgrade   connects as the migrator, and runs the pending steps
rewriting        encrypts all values of a vault under a new key
"""
