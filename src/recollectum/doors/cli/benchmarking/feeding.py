"""Puts the units of one space into a vault, and knows which unit a hit is."""

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from itertools import groupby

from recollectum.domain.hit import Hit
from recollectum.domain.session import SessionKey
from recollectum.doors.cli.benchmarking.sets import Unit
from recollectum.vault.chat import Chat
from recollectum.vault.draft import Draft
from recollectum.vault.transcript import Said
from recollectum.vault.vault import Vault

#: What is no part of a conversation.
_WRITTEN = ("doc", "log", None)
_SIDES = ("user", "assistant")
_MINUTE = timedelta(minutes=1)


class SetClock:
    """The time of the set, which is the time of the vault."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """The time it is set to."""
        return self.now


class Feeder:
    """One vault and the units it was given."""

    def __init__(self, vault: Vault, clock: SetClock, begin: datetime) -> None:
        self._vault = vault
        self._clock = clock
        self._begin = begin
        self._chats: dict[str, Chat] = {}
        self._units: dict[str, list[str]] = {}
        self._count = 0
        self.session_of: dict[str, str] = {}
        #: When the last unit was said.
        self.latest = begin

    def feed(self, units: Iterable[Unit]) -> None:
        """Add units in their order; those without a time follow one another by the minute."""
        told = [unit for unit in units if unit.text.strip()]
        for (session, written, _), group in groupby(told, key=_batch):
            if written:
                self._remember(list(group))
            else:
                self._record(session, list(group))

    def ids(self, hits: Iterable[Hit]) -> list[str]:
        """The units behind hits, best first; of one that was said twice, the latest first."""
        rows = (hit.source.memory_id or hit.source.message_id or "" for hit in hits)
        return list(dict.fromkeys(one for row in rows for one in reversed(self._units[row])))

    def _remember(self, units: Sequence[Unit]) -> None:
        self._clock.now = max(self._clock.now, self._time(units[0]))
        saved = self._vault.memories.save_many(Draft(content=unit.text) for unit in units)
        self._note(units, [memory.id for memory in saved])

    def _record(self, session: str, units: Sequence[Unit]) -> None:
        if session not in self._chats:
            # A name of our own: those of some sets give the answer away.
            self._chats[session] = self._vault.sessions.open_key(SessionKey(topic=f"s{len(self._chats)}"))
        said = [_said(unit, self._time(unit)) for unit in units]
        self._note(units, [message.id for message in self._chats[session].add_many(said)])

    def _note(self, units: Sequence[Unit], rows: Sequence[str]) -> None:
        for unit, row in zip(units, rows, strict=True):
            self._units.setdefault(row, []).append(unit.id)
            self.session_of[unit.id] = unit.session

    def _time(self, unit: Unit) -> datetime:
        self._count += 1
        at = unit.at or self._begin + self._count * _MINUTE
        self.latest = max(self.latest, at)
        return at


def _batch(unit: Unit) -> tuple[str, bool, datetime | None]:
    """What may be written together: a session's turns, or texts of the same time."""
    written = unit.speaker in _WRITTEN
    return ("" if written else unit.session, written, unit.at if written else None)


def _said(unit: Unit, at: datetime) -> Said:
    side = unit.speaker in _SIDES
    return Said(
        role=str(unit.speaker) if side else "user", content=unit.text, speaker=None if side else unit.speaker, at=at
    )
