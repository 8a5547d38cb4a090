"""The PostgreSQL backend.

roles      creates the roles that own, migrate and use the tables
migrate    applies the numbered steps of migrations/
full_text  the text index: rows of tokens, and their posting lists in memory
"""
