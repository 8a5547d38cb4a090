"""What filters leave is the same by every way there, and one long text leaves places to others."""

from collections.abc import Generator
from datetime import timedelta
from itertools import product
from pathlib import Path

import pytest

from recollectum.domain.hit import SourceKind
from recollectum.domain.memory import Kind
from recollectum.domain.trust import Trust
from recollectum.policy.clock import ClockReading
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase
from recollectum.storage.tables.index import search as module
from recollectum.storage.tables.index.search_filters import Filters
from tests.matrix.homes import START, Turning, quick_folder
from tests.recall.homes import beside, opened

_NOW = START + timedelta(days=4)
_READING = ClockReading(now=_NOW, policy_now=_NOW)


@pytest.fixture(scope="module")
def database() -> Generator[SqliteDatabase]:
    """A vault with everything that can be filtered for, and with some that may not be served."""
    clock = Turning()
    with quick_folder() as folder:
        _notes(folder / "notes")
        with opened(folder, None, clock=clock) as vault:
            vault.admin.notes.add_folder(folder / "notes")
            vault.admin.notes.sync()
            for day, kind in product(range(3), (Kind.FACT, Kind.TASK)):
                vault.memories.save(f"a boat of day {day}, {kind}", kind=kind, ttl=timedelta(days=9 if day else 1))
                for channel, agent in (("one", "main"), ("two", "helper")):
                    chat = vault.sessions.open(channel=channel, agent=agent)
                    chat.add("user", f"the boat of day {day}", speaker="Ann")
                    chat.add("tool", "a long list of boats. " * 300)
                clock.turn(timedelta(hours=12))
        with beside(folder) as found:
            yield found


def _notes(folder: Path) -> None:
    folder.mkdir()
    (folder / "boats.md").write_text("# Boats\n\nAll boats of the harbour.\n", encoding="utf-8")


def _session(tx: Tx) -> str:
    return tx.rows("SELECT id FROM sessions ORDER BY id LIMIT 1", {})[0][0]


@pytest.mark.feature("G11")
@pytest.mark.parametrize("sources", [None, *((one,) for one in SourceKind), (SourceKind.MEMORIES, SourceKind.NOTES)])
@pytest.mark.parametrize("since", [None, START + timedelta(hours=20)])
@pytest.mark.parametrize("until", [None, START + timedelta(days=2)])
@pytest.mark.parametrize(
    "other",
    [
        {},
        {"kind": Kind.TASK},
        {"speaker": "ann"},
        {"channel": "one"},
        {"agent": "helper"},
        {"agent": "helper", "channel": "one"},
        {"trust": Trust.ASSISTANT},
        {"session_id": "the first"},
        {"session_id": "ses_none"},
    ],
)
def test_every_way_leads_to_the_same(
    database: SqliteDatabase,
    sources: tuple[SourceKind, ...] | None,
    since: object,
    until: object,
    other: dict[str, object],
) -> None:
    def look(tx: Tx) -> None:
        given = {**other, "session_id": _session(tx)} if other.get("session_id") == "the first" else other
        filters = Filters(**{**given, "sources": sources, "since": since, "until": until})  # pyright: ignore[reportArgumentType]
        params = filters.params(tx, _READING)
        straight = {row[0] for row in tx.rows(module._ALL_ALLOWED.format(some=module._ALL), params)}  # pyright: ignore[reportPrivateUsage]
        within = AllowedChunks(tx, params, filtered=filters.exclude_some(tx))
        assert within.everything() == straight
        numbers = [row[0] for row in tx.rows("SELECT number FROM chunks ORDER BY number DESC", {})]
        texts = {row[0]: row[1:] for row in tx.rows("SELECT number, source, source_number FROM chunks", {})}
        firsts: dict[tuple[object, ...], int] = {}
        for number in numbers:
            if number in straight:
                firsts.setdefault(texts[number], number)
        for most in (1, 3, 1000):
            assert within.best(numbers, most) == list(firsts.values())[:most]

    database.read(look)


def test_what_may_not_be_served_is_left_out_without_any_filter(database: SqliteDatabase) -> None:
    def look(tx: Tx) -> tuple[int, int]:
        every = AllowedChunks(tx, Filters().params(tx, _READING), filtered=False).everything()
        return len(every), tx.rows("SELECT count(*) FROM chunks", {})[0][0]

    left, there = database.read(look)
    # The two memories of the first day have expired.
    assert left == there - 2


def test_a_filter_by_sources_is_one_only_where_there_are_others(database: SqliteDatabase) -> None:
    every, memories = tuple(SourceKind), (SourceKind.MEMORIES,)

    def look(tx: Tx) -> list[bool]:
        wanted = (Filters(), Filters(sources=every), Filters(sources=memories), Filters(sources=()))
        return [one.exclude_some(tx) for one in wanted]

    assert database.read(look) == [False, False, True, True]
    with quick_folder() as folder:
        with opened(folder, None) as vault:
            vault.memories.save("a boat alone")
        with beside(folder) as alone:
            assert alone.read(look) == [False, False, False, True]
            assert alone.read(Filters(sources=memories, kind=Kind.TASK).exclude_some)
