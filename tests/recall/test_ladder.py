"""Recall is never down: it says on which rung it answered, and what stood in the way of a better one."""

import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from recollectum.domain.errors import ModelError, ModelMissing, ModelRefused, ModelTimeout, ModelUnavailable
from recollectum.domain.hit import SearchMode
from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.packages import MODEL_PACKAGES
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.vault import Vault
from tests.recall.homes import OWNER, beside, change, home, opened, rows, scripted

_ERRORS = [
    ModelError("the model is unwell"),
    ModelMissing("the model is not installed; install it"),
    ModelTimeout("the model did not answer in 10 s"),
    ModelUnavailable("the model is too busy", retry_after_seconds=3),
    ModelRefused("the model takes no such request"),
]


def _fill(vault: Vault) -> None:
    vault.memories.save("my car is red", key="the_vehicle")
    vault.memories.save("tea is green")
    vault.sessions.open().add("user", "the doctor called")


@pytest.mark.feature("G11")
def test_with_both_arms_it_is_hybrid_and_nothing_is_missing(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _fill(vault)
        found = vault.recall("automobile")
        assert (found.rung, found.degraded) == (SearchMode.HYBRID, None)
        assert found[0].text == "my car is red"
        assert (found[0].reasons.vector_rank, found[0].reasons.text_rank) == (1, None)
        assert found[0].reasons.rung is SearchMode.HYBRID


@pytest.mark.feature("G11")
def test_who_chose_to_do_without_an_embedder_is_answered_by_words(place: Path) -> None:
    with opened(place, None) as vault:
        _fill(vault)
        found = vault.recall("car")
        assert ([hit.text for hit in found], found.rung) == (["my car is red"], SearchMode.TEXT)
        assert found.degraded is None


@pytest.mark.feature("G11")
def test_where_none_is_installed_it_answers_by_words_and_says_so(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a machine without the packages of the local models.
    for package in MODEL_PACKAGES:
        monkeypatch.setitem(sys.modules, package.module, None)
    with home(place, settings={"embedding.provider": "auto"}) as r:
        vault = r.vault(OWNER)
        _fill(vault)
        found = vault.recall("car")
        assert ([hit.text for hit in found], found.rung) == (["my car is red"], SearchMode.TEXT)
        assert found.degraded == "no embedder is installed, so only words were compared"


@pytest.mark.feature("G11")
@pytest.mark.parametrize("error", _ERRORS, ids=lambda error: type(error).__name__)
@pytest.mark.parametrize("failing", [(Purpose.QUERY,), (Purpose.PASSAGE,), (Purpose.QUERY, Purpose.PASSAGE)])
def test_an_embedder_that_fails_is_told_in_a_sentence(
    place: Path, error: ModelError, failing: tuple[Purpose, ...]
) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        _fill(vault)

        def fail(_: Sequence[str], purpose: Purpose) -> ModelError | None:
            return error if purpose in failing else None

        embedder.fail = fail
        found = vault.recall("car")
        assert ([hit.text for hit in found], found.rung) == (["my car is red"], SearchMode.TEXT)
        assert found.degraded == str(error)
        embedder.fail = None
        assert (vault.recall("automobile").rung, vault.recall("automobile").degraded) == (SearchMode.HYBRID, None)


def test_a_new_text_that_cannot_be_embedded_does_not_hide_the_vectors_there_are(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        _fill(vault)
        assert vault.recall("automobile").rung is SearchMode.HYBRID

        def refuse(_: Sequence[str], purpose: Purpose) -> ModelError | None:
            return ModelRefused("not this text") if purpose is Purpose.PASSAGE else None

        embedder.fail = refuse
        vault.memories.save("a text that the model will not take")
        found = vault.recall("car")
        assert "my car is red" in [hit.text for hit in found]
        assert found.degraded == "not this text"


def test_an_embedder_that_cannot_be_opened_is_a_reason(place: Path) -> None:
    with home(place, settings={"embedding.provider": "local", "embedding.model": "nonesuch"}) as r:
        vault = r.vault(OWNER)
        _fill(vault)
        found = vault.recall("car")
        assert (found.rung, len(found)) == (SearchMode.TEXT, 1)
        assert "nonesuch" in (found.degraded or "")


@pytest.mark.feature("G11")
@pytest.mark.parametrize(
    "damage",
    [
        "UPDATE vectors SET data = x'00'",
        "UPDATE vectors SET data = x'' WHERE chunk = 1",
        "UPDATE vectors SET data = zeroblob(64)",
        "UPDATE embedding_cache SET data = x'0102'",
        "DELETE FROM vectors",
        "DELETE FROM generations",
        "UPDATE generations SET done = 0",
        "UPDATE generations SET done = 1000000",
        "UPDATE generations SET state = 'building'",
        "UPDATE generations SET state = 'previous'",
        "UPDATE generations SET identity = 'nobody''s'",
    ],
)
def test_damage_to_what_is_derived_never_stops_an_answer(place: Path, damage: str) -> None:
    with opened(place, scripted()) as vault:
        _fill(vault)
        vault.recall("automobile")
    assert change(place, damage)
    for _ in range(2):
        with opened(place, scripted()) as vault:
            assert "my car is red" in [hit.text for hit in vault.recall("car")]
            vault.memories.save("a bus came by")
            assert "a bus came by" in [hit.text for hit in vault.recall("bus")]
            vault.admin.index.update()
            assert "my car is red" in [hit.text for hit in vault.recall("automobile car")]


@pytest.mark.feature("G17")
def test_a_generation_that_is_half_built_answers_as_far_as_it_goes(place: Path) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        for number in range(40):
            vault.memories.save(f"car number {number} stands here")
        embedder.fail = _Limit(1)
        found = vault.recall("automobile")
        assert (found.rung, found.degraded) == (SearchMode.HYBRID, "enough for today")
        assert len(rows(place, "SELECT 1 FROM vectors")) == 16
        assert len(vault.recall("number", limit=100)) == 40


class _Limit:
    """Fails for passages from a certain call on."""

    def __init__(self, calls: int) -> None:
        self._left = calls

    def __call__(self, _texts: Sequence[str], purpose: Purpose) -> ModelError | None:
        self._left -= purpose is Purpose.PASSAGE
        return ModelUnavailable("enough for today") if self._left < 0 else None


@pytest.mark.parametrize("query", ["ehicl", "the_vehicle", "y CAR is r"])
def test_what_no_word_knows_is_looked_for_letter_by_letter(place: Path, query: str) -> None:
    with opened(place, None) as vault:
        _fill(vault)
        found = vault.recall(query)
        assert [hit.text for hit in found] == ["my car is red"]
        assert found.rung is (SearchMode.SUBSTRING if query == "ehicl" else found[0].reasons.rung)


def test_a_piece_of_a_word_is_found_though_the_embedder_fails(place: Path) -> None:
    embedder = ScriptedEmbedder(fail=lambda _texts, _purpose: ModelTimeout("the model did not answer in 10 s"))
    with opened(place, embedder) as vault:
        _fill(vault)
        found = vault.recall("octo")
        assert [hit.text for hit in found] == ["the doctor called"]
        assert (found.rung, found.degraded) == (SearchMode.SUBSTRING, "the model did not answer in 10 s")


@pytest.mark.parametrize("query", ["", "   ", "\n", "\0"])
def test_an_empty_question_has_no_answer_and_is_no_error(place: Path, query: str) -> None:
    embedder = scripted()
    with opened(place, embedder) as vault:
        _fill(vault)
        found = vault.recall(query)
        assert found.degraded is None
        if not query.strip():
            assert (found, embedder.calls) == ([], [])


def test_a_query_of_any_text_is_legal_for_the_embedder_too(place: Path) -> None:
    with opened(place, scripted()) as vault:
        _fill(vault)
        for query in ("\ud800", "a" * 50_000, "日本", '"', "NEAR(", "\0\0x"):
            assert vault.recall(query).rung in (SearchMode.HYBRID, SearchMode.TEXT, SearchMode.SUBSTRING)


def test_an_empty_vault_answers_with_nothing(place: Path) -> None:
    with opened(place, scripted()) as vault:
        for _ in range(2):
            assert vault.recall("anything") == []


def test_a_search_goes_on_while_another_process_writes(place: Path) -> None:
    """Readers never wait: with everything embedded, recall needs no turn at the pen."""
    with home(place, settings={"storage.busy_timeout_seconds": 0.2}, embedder=scripted()) as r:
        vault = r.vault(OWNER)
        _fill(vault)
        vault.recall("automobile")
        with beside(place) as database:
            found = database.write(lambda _: vault.recall("automobile"))
        assert (found.rung, found[0].text) == (SearchMode.HYBRID, "my car is red")


def test_a_new_text_that_cannot_be_noted_now_is_found_by_words(place: Path) -> None:
    with home(place, settings={"storage.busy_timeout_seconds": 0.2}, embedder=scripted()) as r:
        vault = r.vault(OWNER)
        _fill(vault)
        vault.recall("automobile")
        vault.memories.save("a bus came by")
        with beside(place) as database:
            found = database.write(lambda _: vault.recall("bus"))
        assert "a bus came by" in [hit.text for hit in found]
