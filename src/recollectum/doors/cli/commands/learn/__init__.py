"""Commands that make memories out of conversations and notes.

consolidate  distils conversations, after it told the cost
review       decides proposals, and proposes merges (`grow`)
index        the vector index
notes        folders of Markdown files, and the global note
"""
