"""What models are asked and what they answer.

embedder        which embedding model made a vector, and for what purpose
language_model  prompts, turns, tools, replies and token usage
"""
