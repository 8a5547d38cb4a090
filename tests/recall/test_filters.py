"""Filters never widen, and what may not be served appears on no rung."""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from itertools import count
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench import million_vault
from recollectum import Recollectum
from recollectum.domain.hit import Hit, RecallResult, SearchMode, SourceName
from recollectum.domain.memory import Kind, KindName
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, quick_folder
from tests.recall.homes import OWNER, home, opened, scripted

_SPEAKERS = ("Ann", "ben", None)
_KINDS = (Kind.FACT, Kind.TASK)
#: One question for each rung: meaning and words, words alone, and a piece of a word.
_QUERIES = {SearchMode.HYBRID: "red car garage", SearchMode.TEXT: "red car garage", SearchMode.SUBSTRING: "arag"}


@pytest.fixture(scope="module", params=list(_QUERIES))
def asked(request: pytest.FixtureRequest) -> Iterator[tuple[Vault, SearchMode]]:
    """A vault in which every combination of what can be filtered for is there, and the rung that answers."""
    rung: SearchMode = request.param
    clock, widths = Turning(), count()
    with (
        quick_folder() as folder,
        opened(folder, scripted() if rung is SearchMode.HYBRID else None, clock=clock) as vault,
    ):
        for day in range(3):
            for kind in _KINDS:
                vault.memories.save(f"the red car of day {day} stands in the garage, {kind}", kind=kind)
            for channel in ("one", "two"):
                for speaker in _SPEAKERS:
                    # Nobody says the same twice, which would be shown once, and no two match equally well.
                    wide = "wide " * next(widths)
                    vault.sessions.open(channel=channel).add("user", f"red car {wide}garage {day}", speaker=speaker)
            clock.turn(timedelta(days=1))
        yield vault, rung


def _sessions(vault: Vault) -> list[str]:
    return [one.id for one in vault.sessions.list()]


def _allows(
    vault: Vault,
    hit: Hit,
    *,
    source: SourceName | None,
    session: int | None,
    kind: KindName | None,
    speaker: str | None,
    since: datetime | None,
    until: datetime | None,
) -> bool:
    """Whether a hit passes the filters, by what its own row says."""
    memory = vault.memories.get(hit.source.memory_id) if hit.source.memory_id else None
    return (
        source in (None, hit.source.kind)
        and (session is None or hit.source.session_id == _sessions(vault)[session])
        and (kind is None or (memory is not None and memory.kind == kind))
        and (speaker is None or (memory is None and hit.author.casefold() == speaker.casefold()))
        and (since is None or hit.created_at >= since)
        and (until is None or hit.created_at < until)
    )


_DAYS = st.none() | st.integers(-1, 4).map(lambda day: START + timedelta(days=day))


@given(
    source=st.sampled_from([None, "memories", "sessions"]),
    session=st.sampled_from([None, 0, 1]),
    kind=st.sampled_from([None, *map(str, Kind)]),
    speaker=st.sampled_from([None, "ANN", "Ben", "user", "nobody"]),
    since=_DAYS,
    until=_DAYS,
)
@pytest.mark.feature("A12")
def test_a_filter_leaves_exactly_what_it_allows(
    asked: tuple[Vault, SearchMode],
    source: SourceName | None,
    session: int | None,
    kind: KindName | None,
    speaker: str | None,
    since: datetime | None,
    until: datetime | None,
) -> None:
    vault, rung = asked
    query = _QUERIES[rung]
    everything = vault.recall(query, limit=1000)
    assert (everything.rung, len(everything)) == (rung, 24)
    session_id = None if session is None else _sessions(vault)[session]
    found = vault.recall(
        query, limit=1000, source=source, session_id=session_id, kind=kind, speaker=speaker, since=since, until=until
    )
    expected = [
        str(hit.source)
        for hit in everything
        if _allows(vault, hit, source=source, session=session, kind=kind, speaker=speaker, since=since, until=until)
    ]
    assert sorted(str(hit.source) for hit in found) == sorted(expected)


def _archive(vault: Vault, memory_id: str, _: Turning) -> None:
    vault.memories.move(memory_id, "archived")


def _forget(vault: Vault, memory_id: str, _: Turning) -> None:
    vault.memories.forget(memory_id)


def _supersede(vault: Vault, memory_id: str, _: Turning) -> None:
    vault.memories.supersede(memory_id, "nothing of the kind")


def _edit(vault: Vault, memory_id: str, _: Turning) -> None:
    vault.memories.edit(memory_id, "nothing of the kind")


def _expire(vault: Vault, memory_id: str, clock: Turning) -> None:
    clock.turn(timedelta(days=2))


_CHANGES: list[Callable[[Vault, str, Turning], None]] = [_archive, _forget, _supersede, _edit, _expire]


def _said(hits: RecallResult) -> set[str]:
    return {hit.text for hit in hits}


@pytest.mark.parametrize("rung", list(_QUERIES))
@pytest.mark.parametrize("change", _CHANGES)
@pytest.mark.feature("A12")
def test_what_may_not_be_served_is_gone_at_once(
    place: Path, clock: Turning, rung: SearchMode, change: Callable[[Vault, str, Turning], None]
) -> None:
    embedder = scripted() if rung is SearchMode.HYBRID else None
    with opened(place, embedder, clock=clock) as vault:
        kept = vault.memories.save("a red car was in the garage").memory
        gone = vault.memories.save("the red car is in my garage now", ttl=timedelta(days=1)).memory
        chat = vault.sessions.open(channel="old")
        chat.add("user", "that red car in the garage was mine")
        before = vault.recall(_QUERIES[rung])
        assert (before.rung, len(before)) == (rung, 3)
        change(vault, gone.id, clock)
        vault.sessions.delete(chat.id)
        if embedder:
            # Whatever was loaded before is all there is to answer from.
            embedder.calls.clear()
        after = vault.recall(_QUERIES[rung])
        assert after.rung is rung
        assert _said(after) - {"nothing of the kind"} == {kept.content}
        assert gone.content not in _said(vault.recall("the red car is in my garage now", limit=1000))


@pytest.mark.feature("A12")
def test_nobody_finds_what_is_in_the_vault_of_another(place: Path) -> None:
    with opened(place, scripted()) as vault:
        vault.memories.save("the red car stands in the garage")
        assert len(vault.recall("red car garage")) == 1
    with opened(place, scripted()), home(place) as r:
        other = r.vault("user:bob")
        other.memories.save("nothing")
        for query in ("red car garage", "arag", "automobile"):
            assert "red" not in " ".join(_said(other.recall(query)))
        assert r.vault(OWNER).recall("red car garage")


def test_matches_that_are_all_equal_are_found(place: Path) -> None:
    with opened(place, None) as vault:
        chat = vault.sessions.open()
        for number in range(1, 21):
            chat.add("user", f"red car garage {number}", speaker="Ann")
            chat.add("user", f"nothing of note {number}", speaker="Ben")
            assert len(vault.recall("red car garage", speaker="Ann", limit=100)) == number


@pytest.mark.feature("G11")
@pytest.mark.slow
def test_a_filter_that_leaves_few_memories_of_a_large_vault_finds_them_by_frequent_words(tmp_path: Path) -> None:
    million_vault.fill(tmp_path, 16_000)
    with Recollectum(tmp_path) as r:
        vault = r.vault(million_vault.OWNER)
        # One memory in a thousand is a correction, and each of them speaks of the soup, as nearly all others do.
        found = vault.recall("the soup was good", kind=Kind.CORRECTION, limit=20)
        kinds = [vault.memories.get(hit.source.memory_id or "").kind for hit in found]
    assert kinds == [Kind.CORRECTION] * 16
