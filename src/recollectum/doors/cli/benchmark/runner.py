"""Runs a labelled set through the engine in a temporary home: feeds, embeds, asks and scores."""

import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.hit import Hit, RecallResult
from recollectum.domain.message import Role
from recollectum.domain.records import dataclass
from recollectum.domain.session import SessionKey
from recollectum.doors.cli.benchmark.labelled_set import LabelledQuery, LabelledSet, LabelledUnit
from recollectum.doors.cli.benchmark.metrics import score
from recollectum.engine import Recollectum
from recollectum.text.tokens import estimate
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.sessions.chat import Chat
from recollectum.vault.vault import Vault

if TYPE_CHECKING:
    from recollectum.models.embedding.port import Embedder

#: The kinds of units that are not part of a conversation.
_WRITTEN = ("doc", "log", None)
_SIDES = ("user", "assistant")
_MINUTE = timedelta(minutes=1)


class SetClock:
    """The time of the set, used as the time of the vault."""

    def __init__(self, now: datetime) -> None:
        self.now = now

    def __call__(self) -> datetime:
        """Return the time it is set to."""
        return self.now


class Feeder:
    """One vault and the units it was fed."""

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

    def feed(self, units: Iterable[LabelledUnit]) -> None:
        """Add units in order; units without a time are one minute apart."""
        told = [unit for unit in units if unit.text.strip()]
        for (session, written, _), group in groupby(told, key=_batch):
            if written:
                self._remember(list(group))
            else:
                self._record(session, list(group))

    def ids(self, hits: Iterable[Hit]) -> list[str]:
        """Return the units behind hits, best first; of a unit that was said twice, the latest first."""
        rows = (hit.source.memory_id or hit.source.message_id or "" for hit in hits)
        return list(dict.fromkeys(one for row in rows for one in reversed(self._units[row])))

    def _remember(self, units: Sequence[LabelledUnit]) -> None:
        self._clock.now = max(self._clock.now, self._time(units[0]))
        saved = [one.memory for one in self._vault.memories.save_many(Draft(content=unit.text) for unit in units)]
        self._note(units, [memory.id for memory in saved])

    def _record(self, session: str, units: Sequence[LabelledUnit]) -> None:
        if session not in self._chats:
            # A neutral name: the names in some sets reveal the answer.
            self._chats[session] = self._vault.sessions.open_key(SessionKey(topic=f"s{len(self._chats)}"))
        said = [_to_message(unit, self._time(unit)) for unit in units]
        self._note(units, [message.id for message in self._chats[session].add_many(said)])

    def _note(self, units: Sequence[LabelledUnit], rows: Sequence[str]) -> None:
        for unit, row in zip(units, rows, strict=True):
            self._units.setdefault(row, []).append(unit.id)
            self.session_of[unit.id] = unit.session

    def _time(self, unit: LabelledUnit) -> datetime:
        self._count += 1
        at = unit.at or self._begin + self._count * _MINUTE
        self.latest = max(self.latest, at)
        return at


def _batch(unit: LabelledUnit) -> tuple[str, bool, datetime | None]:
    """Return what may be written together: a session's turns, or texts with the same time."""
    written = unit.speaker in _WRITTEN
    return ("" if written else unit.session, written, unit.at if written else None)


def _to_message(unit: LabelledUnit, at: datetime) -> NewMessage:
    side = unit.speaker in _SIDES
    return NewMessage(
        role=Role(str(unit.speaker)) if side else Role.USER,
        content=unit.text,
        speaker=None if side else unit.speaker,
        at=at,
    )


#: How many hits each question asks for, and how many of them count as returned.
DEPTH = 50
RETURNED = 10
#: The time of the first unit of a set without times.
_DEFAULT_START = datetime(2024, 1, 1, tzinfo=UTC)
_SETTINGS: Mapping[str, object] = {
    "encryption": "off",
    "storage.reserve_mib": 0,
    # Old texts of a set must be found, however old they are.
    "lifecycle.active_days": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryResult:
    """The result of one question."""

    query: LabelledQuery
    ranked: tuple[str, ...]
    scores: Mapping[str, float]
    tokens: int
    cpu_ms: float
    rung: str
    degraded: str | None


#: Asks one question of a vault that holds everything that was said before it.
AskQuestion = Callable[[Vault, Feeder, LabelledQuery], QueryResult]


@dataclass(frozen=True, slots=True)
class SetSpace:
    """One space of a set."""

    units: Sequence[LabelledUnit]
    queries: Sequence[LabelledQuery]


def run_set(
    data: LabelledSet,
    settings: Mapping[str, object],
    environ: Mapping[str, str],
    tell: Callable[[str, int], None],
    embedder: "Embedder | None" = None,
    ask: AskQuestion | None = None,
) -> list[QueryResult]:
    """Answer and score every question of the set. `tell` receives `embedded` and `asked` with counts.

    `embedder` replaces that of the settings, and `ask` is called in place of `ask_question`.
    """
    rows: list[QueryResult] = []
    with tempfile.TemporaryDirectory(prefix="recollectum-bench-") as folder:
        clock = SetClock(_DEFAULT_START)
        surroundings = _clean_environment(environ, Path(folder))
        with Recollectum(
            Path(folder) / "home",
            settings={**settings, **_SETTINGS},
            environ=surroundings,
            embedder=embedder,
            clock=clock,
        ) as recollectum:
            for number, space in enumerate(set_spaces(data)):
                clock.now = start_time(space)
                feeder = Feeder(vault := recollectum.vault(f"user:space{number}"), clock, clock.now)
                rows += _run_space(vault, feeder, space, clock, tell, ask or ask_question)
    return rows


def _run_space(
    vault: Vault,
    feeder: Feeder,
    space: SetSpace,
    clock: SetClock,
    tell: Callable[[str, int], None],
    ask: AskQuestion,
) -> Iterator[QueryResult]:
    """Yield the results of one space; when a query names a session, that one and later ones are fed after it."""
    waiting = list(space.units)
    # A vault's time never goes back, so earlier questions come first.
    ordered = sorted(
        space.queries, key=lambda one: (one.before_session, one.asked_at or datetime.max.replace(tzinfo=UTC))
    )
    for before, queries in groupby(ordered, key=lambda one: one.before_session):
        feeder.feed(unit for unit in waiting if unit.session_number < before)
        waiting = [unit for unit in waiting if unit.session_number >= before]
        if vault.admin.index.status().without_meaning is None:
            vault.admin.index.update(lambda count: tell("embedded", count))
        for query in queries:
            clock.now = query.asked_at or max(clock.now, feeder.latest)
            yield ask(vault, feeder, query)
            tell("asked", 1)


def ask_question(vault: Vault, feeder: Feeder, query: LabelledQuery) -> QueryResult:
    """Ask one question of a vault, and score the answer."""
    began = time.process_time()
    hits: RecallResult = vault.recall(query.text, limit=DEPTH)
    spent = time.process_time() - began
    ranked = feeder.ids(hits)
    return QueryResult(
        query=query,
        ranked=tuple(ranked),
        scores=score(query, ranked, feeder.session_of),
        tokens=sum(estimate(hit.text) for hit in hits[:RETURNED]),
        cpu_ms=spent * 1000,
        rung=hits.rung,
        degraded=hits.degraded,
    )


def set_spaces(data: LabelledSet) -> Iterator[SetSpace]:
    """Return each space of a set with its questions, in the order of the questions."""
    units: dict[str, list[LabelledUnit]] = {}
    queries: dict[str, list[LabelledQuery]] = {}
    for unit in data.units:
        units.setdefault(unit.space, []).append(unit)
    for query in data.queries:
        queries.setdefault(query.space, []).append(query)
    return (SetSpace(units.get(name, ()), asked) for name, asked in queries.items())


def start_time(space: SetSpace) -> datetime:
    """Return a start time so early that every unit without a time precedes the first question."""
    known = [unit.at for unit in space.units if unit.at]
    asked = [query.asked_at for query in space.queries if query.asked_at]
    length = timedelta(minutes=len(space.units) + 1)
    return min([*known, *(one - length for one in asked)], default=_DEFAULT_START)


def _clean_environment(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """Return the person's environment, with a provider's key but without the variables that point to their home."""
    kept = {name: value for name, value in environ.items() if not name.startswith("RECOLLECTUM_")}
    places = {name: str(folder) for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "RECOLLECTUM_SYSTEM_DIR")}
    return {**kept, **places}
