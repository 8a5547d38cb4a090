"""`recollectum bench`: scores recall on labelled sets, without a language model.

bench         the command
labelled_set  loads units and queries
runner        feeds a temporary home, and asks every query
metrics       recall@k, MRR, nDCG
report        formats the result
"""
