"""Pure functions on text. Standard library only.

time/      times that a question names, as intervals
replaced   the kinds of the secrets that redaction replaced
secrets/   passwords, keys, tokens and account numbers, and their redaction
terms/     the tokeniser of the full-text index, and text similarity
contacts/  English statements about people and their addresses
chunking   overlapping chunks of a long text
markdown   chunks of a Markdown note
cleaning   characters and values that a database cannot store
ignore     ignore rules as in `.gitignore`
tokens     the number of tokens that a model will count
ceilings   an upper bound of tokens without the vocabulary
wishes     requests, and texts that may state a standing wish
word_look  which of many texts may contain one of some literals, by their distinct words
answer_kinds  questions for a time or a number, and texts that have one
"""
