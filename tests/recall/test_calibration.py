"""Scores are chances: they never rise along a result, foreign questions get nothing where it is asked for, and an
embedder that was never measured says so and cuts nothing."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum import InvalidInput, Recollectum, Vault
from recollectum.domain.hit import AnswerEvidence
from recollectum.models.registry.embedding import open_embedder
from recollectum.recall.calibration import CALIBRATIONS, Calibration, find_calibration
from recollectum.settings.model import EmbeddingSettings
from recollectum.testing import ScriptedEmbedder

FACTS = (
    "My flight to Tokyo leaves on 3 May.",
    "I am allergic to penicillin.",
    "I prefer dark mode in every editor.",
    "My sister Ada lives in Oslo.",
    "The office door code changes every Monday.",
    "I play the cello in the city orchestra.",
    "My dog is called Bruno.",
    "I drink oat milk, never cow's milk.",
)
#: Words alone tell less: how rare a word is shows only among some dozens of texts.
MORE = tuple(
    f"The {colour} folder holds the papers of {year}."
    for colour in ("red", "blue", "grey")
    for year in range(2001, 2021)
)
OWN = "Where does my sister Ada live?"
FOREIGN = "How do I configure nginx as a reverse proxy for websockets?"
SHARED_WORD = "How do I open a folder in the Finder with AppleScript on macOS Sonoma?"

chances = st.floats(0, 1, allow_nan=False)
evidences = st.builds(
    AnswerEvidence,
    coverage=chances,
    missing=chances,
    words=st.integers(0, 40),
    fused=st.floats(-5, 12, allow_nan=False),
    cosine=chances,
    mean=chances,
    deviation=st.floats(0, 0.3, allow_nan=False),
)


@pytest.fixture(scope="module")
def by_words(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """A vault that the tests only ask."""
    with Recollectum(tmp_path_factory.mktemp("words"), settings={"embedding.provider": "none"}) as home:
        vault = home.vault("user:ada")
        for fact in (*FACTS, *MORE):
            vault.memories.save(fact)
        yield vault


@pytest.fixture(scope="module")
def by_meaning(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Vault]:
    """A vault that the tests only ask."""
    with Recollectum(tmp_path_factory.mktemp("meaning"), settings={"embedding.provider": "local"}) as home:
        vault = home.vault("user:ada")
        for fact in FACTS:
            vault.memories.save(fact)
        vault.admin.index.update(lambda _: None)
        yield vault


@pytest.mark.parametrize("calibration", CALIBRATIONS.values(), ids=map(str, CALIBRATIONS))
@given(evidence=evidences, fused=st.lists(st.floats(-5, 12, allow_nan=False), max_size=20))
def test_chances_lie_between_0_and_1_and_never_rise(
    calibration: Calibration, evidence: AnswerEvidence, fused: list[float]
) -> None:
    found = calibration.chances(evidence, sorted(fused, reverse=True))
    assert all(0 <= chance <= 1 for chance in found)
    assert found == sorted(found, reverse=True)


def test_the_shipped_embedder_and_words_alone_are_calibrated() -> None:
    shipped = open_embedder(EmbeddingSettings(provider="local"), os.environ)
    assert shipped is not None
    for model in (shipped.identity.text_key(), None):
        calibration = find_calibration(model)
        assert calibration is not None, "run `python -m bench calibration --fit` for the embedder that is shipped"
        assert 0 < calibration.floor < 1


def test_a_question_that_the_vault_answers_gets_its_answer_by_words(by_words: Vault) -> None:
    found = by_words.recall(OWN, answers_only=True)
    assert found.calibrated
    assert found[0].text == "My sister Ada lives in Oslo."
    assert found.nearest is None


def test_a_foreign_question_gets_nothing_by_words_and_is_told_the_nearest(by_words: Vault) -> None:
    asked = by_words.recall(SHARED_WORD)
    assert asked, "without a floor recall shows what it found"
    found = by_words.recall(SHARED_WORD, answers_only=True)
    assert not found
    assert found.nearest is not None
    assert found.nearest.text == asked[0].text


@pytest.mark.parametrize(
    "question",
    [
        "What is the capital of Mongolia?",
        FOREIGN,
        "quantum chromodynamics lattice",
        "How do I reverse a linked list in C?",
    ],
)
def test_a_foreign_question_gets_nothing_by_meaning(by_meaning: Vault, question: str) -> None:
    found = by_meaning.recall(question, answers_only=True)
    assert found.calibrated
    assert not found
    assert found.nearest is not None
    assert by_meaning.context(question).ledger.parts == by_meaning.context("").ledger.parts


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("what medicine must I avoid?", "I am allergic to penicillin."),
        (OWN, "My sister Ada lives in Oslo."),
        ("What is my dog's name?", "My dog is called Bruno."),
        ("Which instrument do I play?", "I play the cello in the city orchestra."),
    ],
)
def test_a_question_that_the_vault_answers_scores_above_a_foreign_one(
    by_meaning: Vault, question: str, answer: str
) -> None:
    found, foreign = by_meaning.recall(question, answers_only=True), by_meaning.recall(FOREIGN)
    assert found[0].text == answer
    assert found[0].score > 2 * foreign[0].score


def test_hits_below_the_minimum_are_left_out(by_meaning: Vault) -> None:
    everything = by_meaning.recall(OWN, min_score=0)
    line = (everything[0].score + everything[1].score) / 2
    some = by_meaning.recall(OWN, min_score=line)
    assert [hit.text for hit in some] == [hit.text for hit in everything if hit.score >= line]
    assert some.nearest is not None
    assert some.nearest.text == everything[1].text


def test_an_embedder_that_was_never_measured_cuts_nothing_and_says_so(tmp_path: Path) -> None:
    with Recollectum(
        tmp_path / "home", settings={"embedding.provider": "local"}, embedder=ScriptedEmbedder("words", 64)
    ) as home:
        vault = home.vault("user:ada")
        for fact in MORE:
            vault.memories.save(fact)
        found = vault.recall(SHARED_WORD, min_score=0.99, answers_only=True)
    assert not found.calibrated
    assert found
    assert "not calibrated" in (found.degraded or "")


@pytest.mark.parametrize("score", [-0.1, 1.01, float("nan")])
def test_a_minimum_that_is_no_chance_is_refused(by_words: Vault, score: float) -> None:
    with pytest.raises(InvalidInput, match="min_score"):
        by_words.recall(OWN, min_score=score)


def test_the_floor_is_a_setting(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={"embedding.provider": "none", "recall.floor": "0"}) as home:
        vault = home.vault("user:ada")
        for fact in MORE:
            vault.memories.save(fact)
        assert vault.recall(SHARED_WORD)[0].score < 0.05
        assert vault.recall(SHARED_WORD, answers_only=True)


def test_a_question_whose_words_most_texts_have_is_answered_by_words_alone(tmp_path: Path) -> None:
    with Recollectum(tmp_path, settings={"embedding.provider": "none"}) as home:
        vault = home.vault("user:ada")
        for number in range(150):
            vault.memories.save(f"train number {number} was late")
        found = vault.recall("late train", answers_only=True)
        assert len(found) == 10
        assert found.evidence
        assert found.evidence.coverage == 1.0
