"""Guest: the program at the other end of a connection, the vault it may use, and what it says as itself."""

import unicodedata
from dataclasses import dataclass
from typing import TYPE_CHECKING

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import ToolCall, ToolStatus
from recollectum.domain.names import check_name

if TYPE_CHECKING:
    from recollectum.doors.mcp.confirming import Confirmations
    from recollectum.vault.vault import Vault

#: The channel under which the sessions of MCP clients stand.
CHANNEL = "mcp"
UNNAMED = "mcp"
_LONGEST = 64


@dataclass(frozen=True, slots=True)
class Guest:
    """One client at one person's vault."""

    vault: "Vault"
    #: The name it gave itself, made safe for a session key.
    agent: str
    confirmations: "Confirmations"

    def spoken(self, tool: str) -> str:
        """The id of a message that says this assistant used a tool: what it saves is believed no more than that.

        The message holds no words of its own, so that recall does not find everything twice.
        """
        chat = self.vault.sessions.open(channel=CHANNEL, agent=self.agent)
        call = ToolCall(id=tool, name=tool, status=ToolStatus.COMPLETE)
        return chat.add("assistant", "", tool_calls=[call]).id


def agent_name(given: object) -> str:
    """The name a client gave itself as one word: no control characters, spaces, colons or slashes."""
    if not isinstance(given, str):
        return UNNAMED
    kept = ("-" if _parts(char) else char for char in unicodedata.normalize("NFC", given[: 4 * _LONGEST]))
    named = "-".join(part for part in "".join(kept).split("-") if part)[:_LONGEST].strip(".-")
    try:
        return check_name(named, "agent")
    except InvalidInput:
        return UNNAMED


def _parts(char: str) -> bool:
    return char in "/\\:" or unicodedata.category(char)[0] in "CZ"
