"""Query in, hits out.

search          the pipeline: candidates, ranking, hits
candidates      finds chunks by words, vector, time or substring
question_times  the times that a question names
query           the question and its filters
allowed_chunks  the chunks that the filters allow
ranking         ranks the candidates of all arms
scoring         fuses scores, and orders by recency; pure
rerank          reranks the head with a model
hits            turns chunks into hits
result_limits   token budget, and the cap on untrusted hits
index           chunks and terms of rows
vectors         search by vectors
"""
