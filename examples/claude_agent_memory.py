"""Claude Agent SDK: what Ann says in one conversation is recalled in another one, and Bob does not see it.

It asks the model of Claude Code; the test of this example lets a scripted one answer with what it was told.
"""

import asyncio
import tempfile

from claude_agent_sdk import ClaudeAgentOptions, ResultMessage, query

from recollectum import Recollectum, Vault
from recollectum.adapters.claude_agent import memory_hooks


async def ask(vault: Vault, prompt: str, folder: str) -> str | None:
    """Return the answer to a prompt in a new conversation."""
    options = ClaudeAgentOptions(hooks=memory_hooks(vault), cwd=folder, setting_sources=[])
    answer = None
    async for message in query(prompt=prompt, options=options):
        if isinstance(message, ResultMessage):
            answer = message.result
    return answer


with Recollectum.temporary() as home, tempfile.TemporaryDirectory() as folder:
    for name, said in (("ann/1", "My colour is teal."), ("ann/2", "Which colour do I like?"), ("bob/1", "Which one?")):
        vault = home.vault(f"user:{name.partition('/')[0]}")
        print(f"{name}: {asyncio.run(ask(vault, said, folder))!r}")
