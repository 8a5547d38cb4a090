"""Extracts knowledge from conversations: values in, findings out; nothing here knows a database.

pipeline         extracts findings from a whole conversation
rules/           extraction without a model
model/           extraction with a model
screening        blanks echoes and forgotten spans before anything is read
sentences        the sentences of a text
date_resolution  relative dates as calendar days
reconciliation   whether statements are the same, and findings against known memories
merge_proposals  near-duplicates and contradictions among all memories
profile          the profile of a person
summary          the summary of a conversation
"""
