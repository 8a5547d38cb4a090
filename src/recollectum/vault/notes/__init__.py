"""Markdown files that are part of a vault.

service       the public operations on note folders
sync          syncs and watches the files
global_notes  the owner's hand-written MEMORY.md
"""
