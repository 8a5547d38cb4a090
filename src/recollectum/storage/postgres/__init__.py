"""The PostgreSQL backend.

roles    creates the roles that own, migrate and use the tables
migrate  applies the numbered steps of migrations/
"""
