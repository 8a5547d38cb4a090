"""Recovery of damaged database files, and rewriting of whole ones.

log_check     notices a damaged write-ahead log when a database is opened
repair        makes a new file of the readable rows of a damaged one
rewriting     rewrites a vault and its copies under another key
salvage       copies the readable part of a damaged database
salvage_rows  reads a damaged table around its bad pages
"""
