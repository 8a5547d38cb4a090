"""A turn that was taken out has no influence any more: what is found is what a vault finds that never had it."""

from pathlib import Path

import pytest

from recollectum.domain.hit import RecallResult, SourceKind
from recollectum.storage.tables.index import chunks
from recollectum.vault.vault import Vault
from tests.recall.homes import beside, opened, rows, scripted

QUESTION = "lighthouse pier"
_SAID = "the lighthouse, what a lighthouse, the lighthouse of lighthouses"


def _fill(vault: Vault, *last: str) -> None:
    for town in range(8):
        chat = vault.sessions.open(channel=f"town{town}")
        chat.add("user", f"the harbour of town {town} has a pier", speaker=f"P{town}")
    chat = vault.sessions.open()
    chat.add("user", "it has a lamp, and it stands at the pier", speaker="Ann")
    for text in last:
        chat.add("user", text, speaker="Ben")
    vault.admin.index.update()


def _take_out(place: Path) -> None:
    ((number,),) = rows(place, "SELECT number FROM messages WHERE speaker = 'Ben'")
    with beside(place) as database:
        database.write(lambda tx: chunks.remove(tx, SourceKind.SESSIONS, number))


def _drawn(found: RecallResult) -> list[str]:
    return [hit.text for hit in found if dict(hit.reasons.added).keys() & {"before", "after", "session"}]


def _texts(found: RecallResult) -> list[str]:
    return [hit.text for hit in found]


@pytest.fixture
def never(place: Path) -> Path:
    """A vault in which the turn never was."""
    with opened(place / "never", scripted()) as vault:
        _fill(vault)
    return place / "never"


@pytest.mark.feature("A12")
@pytest.mark.parametrize("meaning", [True, False])
def test_what_stood_beside_it_is_no_longer_drawn_by_it(place: Path, *, meaning: bool) -> None:
    with opened(place, scripted()) as vault:
        _fill(vault, _SAID)
        assert "it has a lamp, and it stands at the pier" in _drawn(vault.recall(QUESTION, meaning=meaning))
        _take_out(place)
        assert _drawn(vault.recall(QUESTION, meaning=meaning)) == []


@pytest.mark.feature("A12")
@pytest.mark.parametrize("meaning", [True, False])
@pytest.mark.parametrize("again", [True, False], ids=["opened-again", "still-open"])
def test_the_order_is_that_of_a_vault_that_never_had_it(
    place: Path, never: Path, *, again: bool, meaning: bool
) -> None:
    with opened(never, scripted()) as vault:
        expected = _texts(vault.recall(QUESTION, meaning=meaning))
    with opened(place, scripted()) as vault:
        _fill(vault, _SAID)
        vault.recall(QUESTION, meaning=meaning)
        _take_out(place)
        found = _texts(vault.recall(QUESTION, meaning=meaning))
    if again:
        with opened(place, scripted()) as vault:
            found = _texts(vault.recall(QUESTION, meaning=meaning))
    assert found == expected
