"""The only code that knows SQL.

port        what the rest of the package asks of a database
opening     opens the catalog or a vault at the shipped schema
migrate     applies the numbered steps of migrations/
keystore    the wrapped key of each vault (keys.db)
read_cache  caches reads until the database changes
times       moments as stored integers
sqlite      the SQLite backend
tables      one module per table
"""
