"""A text with the time or the number asked for gains, and so does a reply to a question that matches."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.domain.hit import RecallResult
from recollectum.recall.head_order import ANSWER_WEIGHT
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning
from tests.recall.homes import opened, scripted


@pytest.fixture
def vault(place: Path, clock: Turning) -> Iterator[Vault]:
    """Without an embedder, so that only the texts that share a word with the question are found."""
    with opened(place, None, clock=clock) as found:
        yield found


def _reasons(found: RecallResult, text: str) -> dict[str, float]:
    (hit,) = (one for one in found if one.text == text)
    return dict(hit.reasons.added)


def test_a_text_with_the_time_asked_for_comes_first(vault: Vault) -> None:
    dated, other = "last week we painted the boat", "the boat he painted is blue"
    vault.memories.save(dated)
    # The newer one would be first if both matched equally.
    vault.memories.save(other)
    assert [hit.text for hit in vault.recall("who painted the boat?")] == [other, dated]
    found = vault.recall("when was the boat painted?")
    assert [hit.text for hit in found] == [dated, other]
    assert _reasons(found, dated)["answer"] == ANSWER_WEIGHT
    assert "answer" not in _reasons(found, other)


def test_a_text_with_the_number_asked_for_comes_first(vault: Vault) -> None:
    counted, other = "three boats lie in the harbour", "the harbour is full of boats"
    vault.memories.save(counted)
    vault.memories.save(other)
    assert [hit.text for hit in vault.recall("whose boats are in the harbour?")] == [other, counted]
    assert [hit.text for hit in vault.recall("how many boats are in the harbour?")] == [counted, other]


@pytest.mark.parametrize(
    ("asked", "by", "gains"),
    [
        ("did you climb the white lighthouse?", "Ann", True),
        ("did you climb the white lighthouse?", "Ben", False),
        ("we went up the white lighthouse by bicycle and came back in the rain", "Ann", False),
    ],
    ids=["asked by another", "asked by oneself", "told"],
)
def test_a_reply_gains_from_the_question_right_before_it(place: Path, asked: str, by: str, *, gains: bool) -> None:
    reply = "super good, with a great view"
    with opened(place, scripted()) as vault:
        chat = vault.sessions.open()
        for speaker, text in (("Ann", "hello there"), (by, asked), ("Ben", reply)):
            chat.add("user", text, speaker=speaker)
        vault.sessions.open(channel="mail").add("user", "bread is in the oven", speaker="Cid")
        # Whether a turn asks is found when it is embedded.
        vault.admin.index.update()
        reasons = _reasons(vault.recall("white lighthouse view"), reply)
    assert ("reply" in reasons) is gains
    assert reasons["before"] > 0
