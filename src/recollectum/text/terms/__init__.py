"""Turns text into terms: the tokeniser of the full-text index, and what is built on it.

words       folded words and compounds
stopwords   words that carry no topic, in seven languages
analyser    index terms, query terms, and query expansion by kinds of things
similarity  fingerprints and Jaccard similarity
names       names, and whether a text has one whole
match_plan  which phrases to look up in a large index
"""
