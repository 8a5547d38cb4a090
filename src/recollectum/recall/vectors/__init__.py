"""Searches by vectors.

embedders      the embedder of the settings, opened on first use
vector_search  the vectors of one vault, kept current and searched
query          one question against all vectors, with pseudo-relevance feedback
matrix         quantised vectors in memory, kept current with the vault
scan           one snapshot of them, scanned and re-scored
sign_bits      finds candidates by one bit a component (binary quantisation)
ivf            k-means cells over the vectors (IVF)
quantisation   nine bits a component (scalar quantisation)
backlog        embeds the chunks that have no vector yet, in a background thread
"""
