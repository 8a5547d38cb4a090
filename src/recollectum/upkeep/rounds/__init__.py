"""Periodic work over all vaults of a home.

timing     when a round is due: intervals, backoff, idle timer
tasks      the work of each round in one vault
watchers   polls the files of one vault
claims     which server runs a round, under a lease
duties     runs a task over all vaults and records the result
scheduler  which rounds there are, and the two threads that run them
status     the rounds as people see them
"""
