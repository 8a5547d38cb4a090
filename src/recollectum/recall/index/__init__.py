"""Indexes rows as searchable chunks.

chunk_index   indexes memories, messages and notes
chunk_terms   the search terms of existing chunks, for an index on another engine
passages      the text that is embedded, and features of a turn
rechunking    rebuilds the chunks that another version made
waiting       lets texts that are written together wait for the next search
verification  compares the index with its rows, and rebuilds it
"""
