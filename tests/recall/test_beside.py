"""Which pieces stand beside a turn's is kept with it, and says what the conversation says."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from recollectum.policy.clock import ClockReading
from recollectum.recall.ranking import load_neighbours
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import chunk_neighbours as besides
from recollectum.storage.tables.index import search
from recollectum.storage.tables.index.search_filters import Filters
from recollectum.vault.vault import Vault
from tests.matrix.homes import START
from tests.recall.homes import beside, change, opened, rows, scripted

LONG = "The lighthouse keeper told a long story about the sea and its ships. " * 60
_CONVERSATION = (("Ann", "where is the lighthouse?"), ("Ben", "it stands at the pier"), ("Ann", "thank you"))
_KEPT = "SELECT number FROM chunks WHERE source = 'sessions' AND before_step IS NOT NULL AND after_step IS NOT NULL"


def _say(vault: Vault, *said: tuple[str, str], channel: str = "web") -> None:
    chat = vault.sessions.open(channel=channel)
    for speaker, text in said:
        chat.add("user", text, speaker=speaker)


def _compared(tx: Tx) -> tuple[Mapping[int, list[int]], Mapping[int, list[int]]]:
    """What stands beside each piece as it is kept, and as it is looked up."""
    numbers = [row[0] for row in tx.rows("SELECT number FROM chunks", {})]
    known = search.evidence(
        tx, numbers, Filters().params(tx, ClockReading(now=START, policy_now=START)), filtered=False
    )
    looked = {number: [*before, *after] for number, (before, after) in besides.load(tx, numbers).items()}
    return load_neighbours(tx, known.values())[0], looked


def _same(place: Path) -> Mapping[int, list[int]]:
    with beside(place) as database:
        kept, looked = database.read(_compared)
    assert kept == looked
    return kept


def _all_kept(place: Path) -> bool:
    return len(rows(place, _KEPT)) == len(rows(place, "SELECT 1 FROM chunks WHERE source = 'sessions'"))


@pytest.mark.feature("A12")
def test_once_turns_are_embedded_what_is_kept_is_what_would_be_looked_up(place: Path) -> None:
    with opened(place, scripted()) as vault:
        vault.memories.save("a lighthouse is a tower")
        _say(vault, *_CONVERSATION)
        _say(vault, ("Cid", "another talk"), ("Dee", "of other people"), channel="phone")
        vault.admin.index.update()
    assert _all_kept(place)
    assert _same(place) == {2: [3], 3: [2, 4], 4: [3], 5: [6], 6: [5]}
    assert not rows(place, "SELECT 1 FROM chunks WHERE source = 'memories' AND before_step IS NOT NULL")


def test_turns_by_one_speaker_do_not_stand_beside_each_other(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _say(vault, ("Ann", "well"), ("Ann", "where is it?"), ("Ben", "at the pier"), ("Ben", "I think"))
        chat = vault.sessions.open(channel="phone")
        for role in ("user", "assistant", "assistant"):
            chat.add(role, f"spoken by the {role}")
        vault.admin.index.update()
    assert _all_kept(place)
    assert _same(place) == {2: [3], 3: [2], 5: [6], 6: [5]}


def test_every_piece_of_a_long_turn_stands_beside_the_others(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _say(vault, ("Ann", LONG), ("Ben", LONG + LONG), ("Ann", "really?"), ("Ben", LONG))
        vault.admin.index.update()
    assert _all_kept(place)
    kept = _same(place)
    counts = [row[0] for row in rows(place, "SELECT count(*) FROM chunks GROUP BY source_number ORDER BY 1")]
    assert counts[0] == 1 < counts[1] < counts[-1]
    assert max(map(len, kept.values())) > counts[-1]


@pytest.mark.parametrize("pieces", ["one", "several"])
def test_a_turn_that_is_added_later_stands_beside_the_one_before_it(place: Path, pieces: str) -> None:
    with opened(place, scripted()) as vault:
        chat = vault.sessions.open()
        chat.add("user", LONG if pieces == "several" else "the lighthouse", speaker="Ann")
        vault.admin.index.update()
        vault.memories.save("something in between")
        chat.add("user", LONG if pieces == "several" else "at the pier", speaker="Ben")
        vault.admin.index.update()
    assert _all_kept(place)
    kept = _same(place)
    assert len(kept) == len(rows(place, "SELECT 1 FROM chunks WHERE source = 'sessions'"))


def test_a_turn_that_is_added_without_an_embedder_stands_beside_the_one_before_it(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _say(vault, _CONVERSATION[0])
        vault.admin.index.update()
    with opened(place, None) as vault:
        _say(vault, _CONVERSATION[1])
        vault.recall("lighthouse")
    _same(place)


def test_older_rows_of_which_nothing_is_kept_are_looked_up(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _say(vault, *_CONVERSATION)
        vault.admin.index.update()
        known = [(hit.text, hit.score, hit.reasons.added) for hit in vault.recall("lighthouse pier")]
        assert any("near" in dict(added) for _, _, added in known)
        columns = ("before_step", "before_pieces", "after_step", "after_pieces")
        change(place, f"UPDATE chunks SET {', '.join(f'{one} = NULL' for one in columns)} WHERE number <> 3")
        assert _same(place) == {1: [2], 2: [1, 3], 3: [2]}
        assert [(hit.text, hit.score, hit.reasons.added) for hit in vault.recall("lighthouse pier")] == known


def test_pieces_that_do_not_follow_one_another_are_looked_up_each_time(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _say(vault, ("Ann", "where is the lighthouse?"), ("Ben", LONG + LONG))
        vault.admin.index.update()
    last = rows(place, "SELECT max(number) FROM chunks")[0][0]
    assert last > 3
    with beside(place) as database:
        database.write(lambda tx: tx.run("UPDATE chunks SET before_step = NULL, after_step = NULL", {}))
        database.write(lambda tx: tx.run("DELETE FROM chunks WHERE number = 3", {}))
        database.write(lambda tx: besides.store(tx, [1]))
    assert [row[0] for row in rows(place, _KEPT)] == [2, *range(4, last + 1)]
    assert _same(place)[1] == [2, *range(4, last + 1)]
