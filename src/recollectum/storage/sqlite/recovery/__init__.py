"""Recovery of damaged database files.

log_check     notices a damaged write-ahead log when a database is opened
repair        makes a new file of the readable rows of a damaged one
salvage       copies the readable part of a damaged database
salvage_rows  reads a damaged table around its bad pages
"""
