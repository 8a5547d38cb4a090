"""Opens the model that the settings name.

embedding  embedders
language   language models, inside their limits
rerank     rerankers
"""
