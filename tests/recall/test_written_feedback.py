"""The question is moved towards the texts that words and vectors together put first, if these are long and written."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum.recall.vectors.query import VectorQuery
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.recall.homes import opened, scripted

_QUESTION = "car in the street"
_ABOUT = "a car waits in the street, an automobile is parked in the street and nobody drives; "


@pytest.fixture
def vault(place: Path) -> Iterator[Vault]:
    with opened(place, scripted()) as found:
        found.memories.save_many([Draft(content=f"bread {number} bakes slowly, says Ben") for number in range(6)])
        yield found


def _nearness(vault: Vault, text: str) -> float:
    vault.admin.index.update()
    (score,) = (hit.reasons.fused for hit in vault.recall(_QUESTION, limit=20) if hit.text == text)
    assert score is not None
    return score


@pytest.mark.parametrize(("times", "moved"), [(4, True), (1, False)], ids=["long", "short"])
def test_only_long_written_texts_move_the_question(
    vault: Vault, monkeypatch: pytest.MonkeyPatch, times: int, *, moved: bool
) -> None:
    texts = [f"car in the street {number}: {_ABOUT * times}" for number in range(3)]
    vault.memories.save_many([Draft(content=text) for text in texts])
    with_feedback = _nearness(vault, texts[0])
    monkeypatch.setattr("recollectum.recall.vectors.query.WRITTEN_FEEDBACK_WEIGHT", 0.0)
    assert (abs(_nearness(vault, texts[0]) - with_feedback) > 1e-6) is moved


def test_turns_do_not_move_the_question(vault: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: VectorQuery, _leading: list[int], _numbers: list[int]) -> dict[int, float]:
        raise AssertionError

    text = f"car in the street: {_ABOUT * 4}"
    chat = vault.sessions.open()
    for number in range(3):
        chat.add("user", f"{text} {number}", speaker="Ann")
    monkeypatch.setattr(VectorQuery, "cosines_towards", refuse)
    assert vault.recall(_QUESTION)
