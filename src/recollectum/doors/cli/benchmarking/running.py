"""Runs a labelled set through the engine in a temporary home: feed, embed, ask, score."""

import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import groupby
from pathlib import Path

from recollectum.domain.hit import Recalled
from recollectum.doors.cli.benchmarking.feeding import Feeder, SetClock
from recollectum.doors.cli.benchmarking.scoring import score
from recollectum.doors.cli.benchmarking.sets import LabelledSet, Query, Unit
from recollectum.engine import Recollectum
from recollectum.text.tokens import estimate
from recollectum.vault.vault import Vault

#: How many hits each question asks for, and how many of them are counted as returned.
DEPTH = 50
RETURNED = 10
#: When the first unit of a set without any times was said.
_BEGIN = datetime(2024, 1, 1, tzinfo=UTC)
_SETTINGS: Mapping[str, object] = {
    "encryption": "off",
    "storage.reserve_mib": 0,
    # What a set tells of long ago is to be found, however long that is.
    "lifecycle.active_days": 0,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """What came of one question."""

    query: Query
    ranked: tuple[str, ...]
    scores: Mapping[str, float]
    tokens: int
    cpu_ms: float
    rung: str
    degraded: str | None


@dataclass(frozen=True, slots=True)
class Spoken:
    """One space of a set."""

    units: Sequence[Unit]
    queries: Sequence[Query]


def run_set(
    data: LabelledSet,
    settings: Mapping[str, object],
    environ: Mapping[str, str],
    tell: Callable[[str, int], None],
) -> list[Row]:
    """Every question of the set, answered and scored. `tell` hears of `embedded` and `asked`, and how many."""
    rows: list[Row] = []
    with tempfile.TemporaryDirectory(prefix="recollectum-bench-") as folder:
        clock = SetClock(_BEGIN)
        surroundings = _surroundings(environ, Path(folder))
        with Recollectum(
            Path(folder) / "home", settings={**settings, **_SETTINGS}, environ=surroundings, clock=clock
        ) as recollectum:
            for number, space in enumerate(_spaces(data)):
                clock.now = _begin(space)
                feeder = Feeder(vault := recollectum.vault(f"user:space{number}"), clock, clock.now)
                rows += _run_space(vault, feeder, space, clock, tell)
    return rows


def _run_space(
    vault: Vault, feeder: Feeder, space: Spoken, clock: SetClock, tell: Callable[[str, int], None]
) -> Iterator[Row]:
    """Only the past exists: where a query names a session, that one and later ones are fed after it."""
    waiting = list(space.units)
    # A vault's time never goes back, so the earlier questions come first.
    ordered = sorted(
        space.queries, key=lambda one: (one.before_session, one.asked_at or datetime.max.replace(tzinfo=UTC))
    )
    for before, queries in groupby(ordered, key=lambda one: one.before_session):
        feeder.feed(unit for unit in waiting if unit.session_number < before)
        waiting = [unit for unit in waiting if unit.session_number >= before]
        if vault.index.status().without_meaning is None:
            vault.index.update(lambda count: tell("embedded", count))
        for query in queries:
            clock.now = query.asked_at or max(clock.now, feeder.latest)
            yield _ask(vault, feeder, query)
            tell("asked", 1)


def _ask(vault: Vault, feeder: Feeder, query: Query) -> Row:
    began = time.process_time()
    hits: Recalled = vault.recall(query.text, limit=DEPTH)
    spent = time.process_time() - began
    ranked = feeder.ids(hits)
    return Row(
        query=query,
        ranked=tuple(ranked),
        scores=score(query, ranked, feeder.session_of),
        tokens=sum(estimate(hit.text) for hit in hits[:RETURNED]),
        cpu_ms=spent * 1000,
        rung=hits.rung,
        degraded=hits.degraded,
    )


def _spaces(data: LabelledSet) -> Iterator[Spoken]:
    units: dict[str, list[Unit]] = {}
    queries: dict[str, list[Query]] = {}
    for unit in data.units:
        units.setdefault(unit.space, []).append(unit)
    for query in data.queries:
        queries.setdefault(query.space, []).append(query)
    return (Spoken(units.get(name, ()), asked) for name, asked in queries.items())


def _begin(space: Spoken) -> datetime:
    """Early enough that everything without a time was said before the first question and after nothing else."""
    known = [unit.at for unit in space.units if unit.at]
    asked = [query.asked_at for query in space.queries if query.asked_at]
    length = timedelta(minutes=len(space.units) + 1)
    return min([*known, *(one - length for one in asked)], default=_BEGIN)


def _surroundings(environ: Mapping[str, str], folder: Path) -> dict[str, str]:
    """The person's variables, such as a provider's key, without the ones that would lead to their own home."""
    kept = {name: value for name, value in environ.items() if not name.startswith("RECOLLECTUM_")}
    places = {name: str(folder) for name in ("HOME", "USERPROFILE", "XDG_CONFIG_HOME", "RECOLLECTUM_SYSTEM_DIR")}
    return {**kept, **places}
