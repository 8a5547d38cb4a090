"""Undoes changes.

service  the public operations
steps    groups events into steps, and writes their undo
diff     compares the memories of two times
"""
