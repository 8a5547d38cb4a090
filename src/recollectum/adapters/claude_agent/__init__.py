"""Lets the Claude Agent SDK remember: its hooks, and its session store.

hooks          recall before each prompt, and a record of what was said
session_store  the entries of its transcripts, to resume from
conversations  the recorded conversations of Claude Code
"""

from recollectum.adapters.claude_agent.hooks import memory_hooks
from recollectum.adapters.claude_agent.session_store import RecollectumSessionStore

__all__ = ["RecollectumSessionStore", "memory_hooks"]
