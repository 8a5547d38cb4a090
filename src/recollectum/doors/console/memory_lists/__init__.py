"""Many memories at once: the filter of their list, and what is done to those that were selected.

filtering  finds the memories that have some words
bulk       forgets, restores or erases the selected ones, after a preview
"""
