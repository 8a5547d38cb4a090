"""Stores the state of ADK sessions, users and apps as packed records; a write that another one overtook is refused."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, cast
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
_NAME = "state"
#: So many changes are remembered, so that two who apply the same one do it once.
_MOST_APPLIED = 200

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


def new_stamp() -> str:
    """Return a name for one change; short, because the last ones are in every record of a shared state."""
    return uuid4().hex[:16]


@dataclass(frozen=True, slots=True)
class Intent:
    """A change of shared state that comes with a record of a session: both happen, or neither."""

    #: In the record too, by which it is known.
    stamp: str
    session_id: str
    #: The record is the first one after so many.
    after: int
    of_app: State
    of_user: State

    @classmethod
    def parse(cls, written: "Json") -> "Intent":
        """Return an intent that was written as JSON."""
        stamp, session_id, after, of_app, of_user = cast("tuple[str, str, int, State, State]", written)
        return cls(stamp, session_id, after, of_app, of_user)

    def to_json(self) -> list[Json]:
        """Return the intent as JSON."""
        return [self.stamp, self.session_id, self.after, self.of_app, self.of_user]


@dataclass(frozen=True, slots=True)
class _Standing:
    """The last record of a shared state."""

    state: State
    #: Changes whose record may be there without them.
    intents: tuple[Intent, ...]
    #: The changes that were applied last, so that none is applied twice.
    applied: tuple[str, ...]


class SharedState:
    """The state that all sessions of a user share, or all users of an app."""

    def __init__(self, vault: "Vault", app_name: str) -> None:
        self._log = SessionLog(vault, app_name, "adk-state")

    def load(self) -> State:
        """Return the current state."""
        return self._standing(self._log.find(_NAME)).state

    def intents(self) -> tuple[Intent, ...]:
        """Return the changes that are not applied yet."""
        return self._standing(self._log.find(_NAME)).intents

    def note(self, intent: Intent) -> None:
        """Write down a change before the record that it comes with."""
        self._change(lambda now: replace(now, intents=(*now.intents, intent)))

    def apply(self, stamp: str, delta: State) -> State:
        """Merge a change into the state, once; return the state."""
        return self._change(
            lambda now: (
                now
                if stamp in now.applied
                else _Standing(
                    {**now.state, **delta}, _without(now.intents, stamp), (*now.applied, stamp)[-_MOST_APPLIED:]
                )
            )
        ).state

    def drop(self, stamp: str) -> None:
        """Forget a change whose record was refused."""
        self._change(lambda now: replace(now, intents=_without(now.intents, stamp)))

    def _change(self, change: "Callable[[_Standing], _Standing]") -> _Standing:
        """Write a new last record; a writer that was overtaken begins with the newer one."""
        chat = self._log.open(_NAME, title=_NAME)
        while True:
            after = chat.info().message_count
            now = self._standing(chat)
            new = change(now)
            record: dict[str, Json] = {
                "state": new.state,
                "intents": [one.to_json() for one in new.intents],
                "applied": list(new.applied),
            }
            if new == now or add_record(chat, after, record):
                return new

    def _standing(self, chat: "Chat | None") -> _Standing:
        last = next((found for one in last_to_first(chat) if (found := read_record(one))), None) if chat else None
        record: dict[str, Json] = last or {}
        intents = cast("list[Json]", record.get("intents", []))
        applied = cast("list[str]", record.get("applied", []))
        return _Standing(cast("State", record.get("state", {})), tuple(map(Intent.parse, intents)), tuple(applied))


def _without(intents: tuple[Intent, ...], stamp: str) -> tuple[Intent, ...]:
    return tuple(one for one in intents if one.stamp != stamp)
