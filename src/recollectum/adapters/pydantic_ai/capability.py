"""Gives agents of Pydantic AI a capability that recalls before each model call, and tools to recall and remember."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Any, cast

from pydantic_ai.capabilities import AbstractCapability
from pydantic_ai.tools import RunContext
from pydantic_ai.toolsets import FunctionToolset

from recollectum.adapters.session_log import SessionLog
from recollectum.domain.message import ToolUse
from recollectum.vault.context.injection import PROMPT_TOKENS, inject_at_prompt
from recollectum.vault.vault import Vault

AGENT, CHANNEL = "pydantic-ai", "conversations"


class RecollectumCapability(AbstractCapability[Any]):
    """A capability for `Agent(capabilities=[…])`: recalls before each model call, and has tools to recall and remember.

    Give a vault, or a function that returns one for the dependencies of a run.
    """

    def __init__(
        self, vault: Vault | Callable[[Any], Vault], *, agent: str = AGENT, tokens: int = PROMPT_TOKENS
    ) -> None:
        self._vault = vault
        self._agent = agent
        self._tokens = tokens

    def get_instructions(self) -> Any:  # noqa: ANN401 - as the class that it extends
        """Return what makes the instructions of a run."""
        return self._instructions

    def get_toolset(self) -> FunctionToolset[Any]:
        """Return the tools `remember` and `recall`."""
        return FunctionToolset([self.remember, self.recall])

    async def remember(self, ctx: RunContext[Any], fact: str) -> str:
        """Keep one durable fact about the user, in a sentence, for later conversations."""
        said_by = ToolUse(tool="remember", agent=self._agent, channel=CHANNEL)
        saved = await asyncio.to_thread(self._of(ctx).memories.save, fact, said_by=said_by)
        return f"remembered as {saved.id}"

    async def recall(self, ctx: RunContext[Any], query: str) -> str:
        """Search what the user said in earlier conversations, and what was remembered."""
        return await asyncio.to_thread(self._told, ctx, query) or "nothing is remembered about this"

    async def _instructions(self, ctx: RunContext[Any]) -> str | None:
        return await asyncio.to_thread(self._told, ctx, texts_of(ctx.prompt)) or None

    def _of(self, ctx: RunContext[Any]) -> Vault:
        return self._vault if isinstance(self._vault, Vault) else self._vault(ctx.deps)

    def _told(self, ctx: RunContext[Any], asked: str) -> str:
        vault = self._of(ctx)
        own = SessionLog(vault, self._agent, CHANNEL).find(ctx.conversation_id or "")
        return inject_at_prompt(vault, asked, sessions=[own.id] if own else [], told=(), tokens=self._tokens).text


def texts_of(content: object) -> str:
    """Return the texts in a prompt or the content of a part; pictures and files have none."""
    several = cast("Sequence[object]", content) if isinstance(content, list | tuple) else [content]
    return "\n".join(one for one in several if isinstance(one, str))
