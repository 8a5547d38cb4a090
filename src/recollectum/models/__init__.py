"""The only code that calls a model.

registry/   opens the model that the settings name
embedding/  embedders, and wrappers that are embedders themselves
language/   language models and their dialects
rerank/     rerankers
limits/     retries, budgets and concurrency
http/       the HTTP client
search      the models that a program hands to search
onnx        loads ONNX models and tokenizers
"""
