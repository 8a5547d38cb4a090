"""Pages about the home, and about nobody's vault.

start       the first steps of a newcomer
extensions  what others wrote for agents
"""
