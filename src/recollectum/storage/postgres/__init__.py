"""The PostgreSQL backend: one database holds the catalog and all vaults, and row-level security separates them.

roles           creates the roles that own, migrate and use the tables
migrate         applies the numbered steps of migrations/
connections     who connects, how many there are, and how values travel
dialect         the portable SQL in PostgreSQL's words
statements      the types of a statement's parameters, as the server describes them
row_arrays      many rows in one statement
sealing         encrypts values before they are sent
failures        PostgreSQL's errors as Recollectum's
scopes          the constants that begin a transaction of a vault or of the catalog
full_text       the text index: rows of tokens, and their posting lists in memory
transaction     one transaction: statements, and the text index
commits         commits a write, also one whose COMMIT was not answered
database        the database port: reads and writes
vault_rows      the numbers of the vaults, and all rows of one
operations      what an operator does: the doctor's checks of the server, schema upgrades, and new keys
engine          the engine port: creates, opens, lists and destroys vaults
copies          ordinary files made from the rows of a vault or of the catalog, and put back
upkeep          inspects and copies vaults; repairs are refused
"""
