"""Erases data for good.

service         the public operations
request         the request, its preview and token, and the receipt
plan            selects the rows
execution       runs a purge to its receipt
resume          resumes interrupted purges at open
person_erasure  erases a whole person
environment     the parts of the home that a purge touches
samples         samples of what is erased
matching        finds samples in bytes, also those of which only outlines were kept
contents        reads files: decrypted pages, members of archives, and bytes
search          searches every file for the samples
search_program  the program that searches, in its own process
backups         finds and destroys copies in backups
receipts        lists and verifies receipts
signatures      signs receipts with Ed25519
"""
