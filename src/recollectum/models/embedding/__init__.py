"""Embedders: texts in, vectors of length 1 out.

port      the protocol of an embedder
inputs    texts cleaned, cut and prefixed for a model
vectors   unit length and half-precision encoding
local     an ONNX model on this machine
packages  the packages that carry a local model
remote    a model behind an endpoint
openai    OpenAI's dialect
gemini    Gemini's dialect
ollama    Ollama's dialect
batching  many texts in bounded calls
cache     vectors that were computed before
shared    vectors from the daemon of the same home
"""
