"""Stores the state of ADK sessions, users and apps as packed records; a write that another one overtook is refused."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING
from uuid import uuid4

from recollectum.adapters.packing import pack_json, unpack_json
from recollectum.adapters.session_log import SessionLog, last_to_first
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.vault.intake.new_message import NewMessage

if TYPE_CHECKING:
    from datetime import datetime

    from recollectum.domain.message import Message, RoleName
    from recollectum.vault.sessions.chat import Chat
    from recollectum.vault.vault import Vault

_FIELD, _STAMP = "adk", "adk_stamp"

State = dict[str, Json]


@dataclass(frozen=True, slots=True)
class SpokenText:
    """What recall finds of a record: who said what, and when."""

    role: "RoleName"
    content: str
    speaker: str | None = None
    at: "datetime | None" = None


_SILENT = SpokenText("info", "")


def read_record(message: "Message") -> dict[str, Json] | None:
    """Return the record of a message; None if it has none."""
    kept = message.extra.get(_FIELD)
    return None if kept is None else unpack_json(kept)


def last_state(chat: "Chat") -> State:
    """Return the state in the last record that has one."""
    for message in last_to_first(chat):
        state = (read_record(message) or {}).get("state")
        if isinstance(state, dict):
            return state
    return {}


def add_record(chat: "Chat", after: int, record: Mapping[str, Json], text: SpokenText = _SILENT) -> bool:
    """Append a record after a position; return False when something else was appended there first."""
    stamp = uuid4().hex
    message = NewMessage(
        role=text.role,
        content=text.content,
        speaker=text.speaker,
        at=text.at,
        # The same native id is stored once, so that of two writers one is refused.
        native_id=f"after:{after}",
        extra={_FIELD: pack_json(record), _STAMP: stamp},
    )
    # A message that only repeats what memory served is left out; its record is still needed.
    stored = chat.add_many([message]) or chat.add_many([replace(message, role="info", content="")])
    return stored[0].extra.get(_STAMP) == stamp


class SharedState:
    """The state that all sessions of a user share, or all users of an app."""

    def __init__(self, vault: "Vault", app_name: str) -> None:
        self._log = SessionLog(vault, app_name, "adk-state")

    def load(self) -> State:
        """Return the current state."""
        chat = self._log.find("state")
        return {} if chat is None else last_state(chat)

    def update(self, delta: State) -> State:
        """Merge a change into the state; return it. A writer that was overtaken merges into the newer state."""
        if not delta:
            return self.load()
        chat = self._log.open("state", title="state")
        while True:
            after = chat.info().message_count
            state = {**last_state(chat), **delta}
            if add_record(chat, after, {"state": state}):
                return state
