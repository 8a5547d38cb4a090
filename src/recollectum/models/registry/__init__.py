"""Opens the model that the settings name.

choices    every model that the settings can name, and what it needs
embedding  embedders
language   language models, inside their limits
rerank     rerankers
"""
