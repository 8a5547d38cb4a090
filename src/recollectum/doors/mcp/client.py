"""Represents the connected client: the vault it may use, its agent name, and its signed confirmation tokens."""

import hmac
import unicodedata
from dataclasses import field
from datetime import timedelta
from secrets import token_bytes
from typing import TYPE_CHECKING

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import Clock, SteadyClock, check_name
from recollectum.domain.message import ToolUse
from recollectum.domain.records import dataclass
from recollectum.domain.session import name_agent

if TYPE_CHECKING:
    from recollectum.domain.memory import Memory
    from recollectum.vault.vault import Vault

LIFETIME = timedelta(minutes=10)
_STALE = "that confirmation is not valid, or not any more; call forget without it to get a new one"


@dataclass(frozen=True, slots=True)
class Confirmations:
    """Issues and checks confirmation tokens, with a secret that lives as long as this process."""

    secret: bytes = field(default_factory=lambda: token_bytes(32), repr=False)
    clock: Clock = field(default_factory=SteadyClock)

    def give(self, vault: "Vault", memory: "Memory") -> str:
        """Return a token for this memory at this version."""
        until = int((self.clock() + LIFETIME).timestamp())
        return f"{until}.{self._mac(vault, memory, until)}"

    def check(self, vault: "Vault", memory: "Memory", token: str) -> None:
        """Raise for a token of another caller, memory or time."""
        until, _, mac = token.partition(".")
        fits = until.isascii() and until.isdigit() and len(until) <= 12 and mac.isascii()
        if not fits or not hmac.compare_digest(mac, self._mac(vault, memory, int(until))):
            raise InvalidInput(_STALE)
        if self.clock().timestamp() >= int(until):
            raise InvalidInput(_STALE)

    def _mac(self, vault: "Vault", memory: "Memory", until: int) -> str:
        said = "\0".join((vault.gate.caller.name, str(vault.owner), memory.id, str(memory.version), str(until)))
        return hmac.digest(self.secret, said.encode(), "sha256").hex()


#: The channel of the sessions of MCP clients.
CHANNEL = "mcp"
UNNAMED = "mcp"
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class McpClient:
    """One client at one person's vault."""

    vault: "Vault"
    #: The name it gave itself, made valid for a session key.
    agent: str
    confirmations: "Confirmations"

    def tool_use(self, tool: str) -> ToolUse:
        """Return the tool use that is recorded in the agent's session when this client writes."""
        return ToolUse(tool=tool, agent=name_agent(self.agent), channel=CHANNEL)


def agent_name(given: object) -> str:
    """Return a client's own name as one word: no control characters, spaces, colons or slashes."""
    if not isinstance(given, str):
        return UNNAMED
    kept = ("-" if _is_separator(char) else char for char in unicodedata.normalize("NFC", given[: 4 * _LONGEST]))
    named = "-".join(part for part in "".join(kept).split("-") if part)[:_LONGEST].strip(".-")
    try:
        return check_name(named, "agent")
    except InvalidInput:
        return UNNAMED


def _is_separator(char: str) -> bool:
    return char in "/\\:" or unicodedata.category(char)[0] in "CZ"
