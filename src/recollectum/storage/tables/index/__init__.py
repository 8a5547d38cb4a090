"""Tables of the search index; all of them can be rebuilt from content.

chunks           indexed pieces of memories, messages and notes
chunk_texts      chunks with the texts that their search terms are made from
unindexed        messages that the index lacks
vectors          quantised vectors of chunks
generations      which embedder made which vectors
coarse           IVF index: centroids and cells
embedding_cache  vectors by text hash
search           candidate chunks and the features that ranking needs of each
search_filters   the conditions of a search and their parameters
archive          the newest archived memories
hit_rows         text, adjacent turns and origins of hits
"""
