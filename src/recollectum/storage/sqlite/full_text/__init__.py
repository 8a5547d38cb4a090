"""Full text on FTS5.

text_index          adds and removes chunks, and finds those with the phrases of a question
posting_reader      the posting lists of one connection
document_lengths    the length of every chunk, in memory
"""
