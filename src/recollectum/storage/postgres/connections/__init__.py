"""Connections to a PostgreSQL server: who connects, how many there are, and how values travel.

address       the address of the database, and its name without a password
connection    opens a connection, converts values, and sends what frames a transaction
sending       sends the statements of a transaction, prepared from their second use on
pool          the connections that all vaults of a process share
traffic       counts transactions, errors, waits and lost commits
replica       the connections to a hot standby, for reads that may lack the last writes of others
schema_watch  looks from time to time whether a running program may go on
rights        refuses an old server, and a role that row-level security does not bind
"""
