"""Markdown files that are part of a vault.

service       the public operations on note folders
sync          syncs and watches the files
file_hosts    which host keeps the files of a vault
global_notes  the owner's hand-written MEMORY.md
"""
