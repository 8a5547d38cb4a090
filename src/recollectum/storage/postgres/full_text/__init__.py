"""Full text on PostgreSQL: the server keeps rows of tokens, and the process keeps them sorted.

text_index     adds and removes chunks, and finds those with the phrases of a question
token_cache    reads the rows of tokens that changed, and keeps the last states
token_lists    the tokens of one vault in memory, and their posting lists
token_segment  the sorted tokens of some chunks
tokens         the terms of a chunk as numbers
"""
