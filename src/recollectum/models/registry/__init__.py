"""Opens the model that the settings ask for.

embedding  embedders
language   language models, inside their limits
rerank     rerankers
"""
