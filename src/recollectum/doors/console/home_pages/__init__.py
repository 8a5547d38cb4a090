"""Pages about the home, and about nobody's vault.

extensions  what others wrote for agents
"""
