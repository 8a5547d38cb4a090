"""The only code that knows SQL.

port             what the rest of the package asks of a database
engine           what it asks of the home of all vaults: make, open, copy, verify, repair, destroy
opening          chooses the engine of a home
catalog_mark     notices a catalog that is older than last seen
copies           reads the copies in a backup
copying          copies rows between engines, by way of an ordinary file
places           lets vaults be in files and in a database, and moves them while they are used
encrypted_pages  decrypts pages of a file that is not opened as a database
page_recoding    rewrites such a file under another key
key_tables       the tables of keys
key_database     asks the holder for the master key, and wraps others by it
key_renewal      replaces the key of a vault, and the master key
vault_opening    opens a vault with its key, also while the key is changed
keystore         the wrapped key of each vault
shared           what several hosts share: keys in a file or a database, and locks
read_cache       caches reads until the database changes
times            moments as stored integers
row_lists        rows as named parameters of one statement
full_text        ranks chunks by words, the same on every engine
sqlite           the SQLite backend
postgres         the PostgreSQL backend
foreign          reads the databases of other programs
tables           one module per table
"""
