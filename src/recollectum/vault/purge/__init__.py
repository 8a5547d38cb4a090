"""Erases data for good.

service         the public operations
request         the request, its preview and token, and the receipt
plan            selects the rows
execution       runs a purge to its receipt
resume          resumes interrupted purges at open
person_erasure  erases a whole person
environment     the parts of the home that a purge touches, and the samples it searches for
search          searches every file for these samples
search_program  the program that searches, in its own process
backups         finds and destroys copies in backups
receipts        lists and verifies receipts
signatures      signs receipts with Ed25519
"""
