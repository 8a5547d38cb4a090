"""Rerankers: score how well each text answers a question.

port           the protocol of a reranker
cross_encoder  a local ONNX model
remote         a model behind an endpoint
"""
