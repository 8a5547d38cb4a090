"""Answers a query with hits.

pipeline        parse, gather, rank, rerank, cap, render
candidates      finds chunks by words, vector, time or substring
question_times  the times that a question names
query           the question and its filters
allowed_chunks  the chunks that the filters allow
ranking         z-score fusion of the candidates of all arms
scoring         fuses scores; pure
head_order      whole names first, and newest first, at the head of a ranking
recency         orders statements about the same thing by time; pure
calibration     turns the evidence for a hit into the chance that it is relevant
archive         counts the archived memories that match
wishes          lifts standing wishes in the answer to a request
rerank          applies a model's scores to the head of a ranking
hits            turns chunks into hits
result_limits   token budget, and the cap on untrusted hits
index           chunks and terms of rows
vectors         search by vectors
"""
