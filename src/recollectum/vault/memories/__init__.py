"""Memories and their history.

service             the public operations on memories
saving              turns a draft into a memory, a version or a renewal
changes             writes one change with its version, index entries and event, or in quarantine
history             versions, events, citations and totals
tool_use            records the use of a tool with the memory it saves
"""
