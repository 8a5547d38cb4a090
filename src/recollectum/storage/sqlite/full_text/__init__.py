"""Full text on FTS5.

text_index          adds and removes chunks, and finds those with the phrases of a question
phrase_frequencies  how frequent phrases are in a large index, and the lists of the rare ones
posting_reader      the posting lists of one connection
document_lengths    the length of every chunk, in memory
bm25                scores chunks from posting lists
"""
