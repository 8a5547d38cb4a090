"""Imports of what other programs keep.

service  previews and runs imports
writing  writes batches of it, each in one transaction
"""
