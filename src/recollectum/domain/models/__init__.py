"""What models are asked and what they answer.

chat_formats    turns as OpenAI, Anthropic and Gemini take them
embedder        which embedding model made a vector, and for what purpose
language_model  prompts, turns, tools, replies and token usage
"""
