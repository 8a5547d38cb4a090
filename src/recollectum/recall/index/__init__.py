"""Rows as searchable chunks.

chunk_index   indexes memories, messages and notes
passages      the text that is embedded, and features of a turn
rechunking    makes the chunks of another version again
verification  compares the index with its rows, and rebuilds it
"""
