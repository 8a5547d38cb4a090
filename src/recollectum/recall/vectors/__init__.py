"""Search by vectors.

embedders      the embedder of the settings, opened when it is first asked for
vector_search  the vectors of one vault, kept current and asked
query          one question against all vectors, with pseudo-relevance feedback
matrix         quantised vectors in memory, scanned and re-scored
ivf            k-means cells over the vectors (IVF)
quantisation   nine bits a component (scalar quantisation)
backlog        embeds what has no vector yet, and the thread that does it
"""
