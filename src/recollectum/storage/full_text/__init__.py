"""Ranks chunks by the words of a question, the same on every engine; an engine supplies the posting lists.

tokenizer           cuts texts into terms
posting_source      what ranking asks of the posting lists of an engine
phrase_frequencies  how frequent phrases are in a large index, and the lists of the rare ones
candidates          the posting lists to score for one question
bm25                scores chunks from posting lists
"""
