"""The SQLite backend.

engine         the catalog and the vaults of a home, a file each
upkeep         copies, verifies and puts back those files
migrate        applies the numbered steps of migrations/
files          names the files of a home
connection     opens a connection with the required settings
database       one file: a writer and several readers
group_commit   writers that arrive together share one commit
dialect        the words in which portable statements differ
failures       translates SQLite's errors
full_text      the full-text index on FTS5
moved_mark     refuses a file whose rows were moved to a database
backup         copies a live database
conversion     rewrites a database with other pages or under another key
integrity      checks pages and rows
recovery       saves what can be read of a damaged file
seal_triggers  keeps a checksum for every row
"""
