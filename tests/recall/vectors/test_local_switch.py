"""The change from gte-small to recollectum-embed: the old vectors answer until the new ones are made."""

import sys
from collections.abc import Sequence
from pathlib import Path
from threading import Event

import pytest

from recollectum import Recollectum
from recollectum.domain.hit import SearchMode
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.local import LocalEmbedder
from recollectum.models.embedding.port import Vectors
from recollectum.recall.calibration import find_calibration
from recollectum.vault.vault import Vault
from tests.recall.homes import OWNER, home

_FACTS = (
    "I am allergic to penicillin.",
    "My sister Ada lives in Oslo.",
    "I play the cello in the city orchestra.",
    "The car has to be washed on Friday.",
    *(f"The folder of the year {year} is blue." for year in range(1990, 2020)),
)
_QUESTION = "which instrument does she play?"
_ANSWER = "I play the cello in the city orchestra."


def _auto(place: Path, **more: str) -> Recollectum:
    return home(place, settings={"embedding.provider": "auto", "daemon.share_embedder": "off", **more})


def _generations(vault: Vault) -> dict[str, str]:
    found = vault.admin.index.status().generations
    return {one.state: identity.model for one in found if (identity := EmbedderIdentity.from_text_key(one.identity))}


@pytest.fixture
def made_by_gte_small(place: Path) -> Path:
    """A home from before the new model: its vectors are of gte-small."""
    with _auto(place, **{"embedding.model": "gte-small"}) as r:
        vault = r.vault(OWNER)
        for text in _FACTS:
            vault.memories.save(text)
        assert vault.admin.index.update() == len(_FACTS)
        assert _generations(vault) == {"current": "gte-small"}
        assert vault.recall(_QUESTION).rung is SearchMode.HYBRID
    return place


class _Held:
    """Holds back what the new model computes for the index until it is told to go on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.go_on = Event()
        compute = LocalEmbedder.embed

        def embed(own: LocalEmbedder, texts: Sequence[str], purpose: Purpose) -> Vectors:
            if own.identity.model == "recollectum-embed" and purpose is Purpose.PASSAGE:
                assert self.go_on.wait(60)
            return compute(own, texts, purpose)

        monkeypatch.setattr(LocalEmbedder, "embed", embed)


def _until_changed(vault: Vault) -> None:
    for _ in range(6000):
        if _generations(vault) == {"current": "recollectum-embed", "previous": "gte-small"}:
            return
        Event().wait(0.01)
    pytest.fail("the new generation was never complete")


@pytest.mark.feature("G17")
def test_gte_small_answers_by_meaning_until_the_new_vectors_are_made(
    made_by_gte_small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = _Held(monkeypatch)
    with _auto(made_by_gte_small) as r:
        vault = r.vault(OWNER)
        found = vault.recall(_QUESTION)
        assert (found[0].text, found.rung, found.degraded) == (_ANSWER, SearchMode.HYBRID, None)
        # A text that is written meanwhile is found by meaning, too.
        vault.memories.save("The doctor called about the blood test.")
        found = vault.recall("what did the physician want?")
        assert (found[0].text, found.rung) == ("The doctor called about the blood test.", SearchMode.HYBRID)
        assert _generations(vault) == {"current": "gte-small", "building": "recollectum-embed"}
        held.go_on.set()
        _until_changed(vault)
        found = vault.recall(_QUESTION)
        assert (found[0].text, found.rung) == (_ANSWER, SearchMode.HYBRID)
        assert vault.admin.index.verify().sound


@pytest.mark.feature("G17")
def test_without_the_package_of_gte_small_words_answer_until_then_and_the_answer_says_why(
    made_by_gte_small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    held = _Held(monkeypatch)
    monkeypatch.setitem(sys.modules, "recollectum_gte_small", None)
    with _auto(made_by_gte_small) as r:
        vault = r.vault(OWNER)
        found = vault.recall("cello orchestra")
        assert (found[0].text, found.rung) == (_ANSWER, SearchMode.TEXT)
        assert found.degraded == (
            "the index is being rebuilt for another model, so only words were compared; gte-small, which made it, is "
            "missing: the local embedder needs recollectum_gte_small; run: pip install recollectum-gte-small"
        )
        held.go_on.set()
        _until_changed(vault)
        found = vault.recall(_QUESTION)
        assert (found[0].text, found.rung) == (_ANSWER, SearchMode.HYBRID)


@pytest.mark.feature("G17")
def test_who_names_gte_small_keeps_its_vectors(made_by_gte_small: Path) -> None:
    with _auto(made_by_gte_small, **{"embedding.model": "gte-small"}) as r:
        vault = r.vault(OWNER)
        found = vault.recall(_QUESTION)
        assert (found[0].text, found.rung, found.degraded) == (_ANSWER, SearchMode.HYBRID, None)
        assert vault.admin.index.update() == 0
        assert _generations(vault) == {"current": "gte-small"}


def test_a_home_where_only_gte_small_is_installed_goes_on_with_it(
    made_by_gte_small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "recollectum_embed", None)
    monkeypatch.setitem(sys.modules, "recollectum_embed_quick", None)
    with _auto(made_by_gte_small) as r:
        vault = r.vault(OWNER)
        found = vault.recall(_QUESTION)
        assert (found[0].text, found.rung, found.degraded) == (_ANSWER, SearchMode.HYBRID, None)
        assert _generations(vault) == {"current": "gte-small"}


def test_the_scores_of_each_model_are_calibrated_by_its_digest(made_by_gte_small: Path) -> None:
    with _auto(made_by_gte_small) as r:
        vault = r.vault(OWNER)
        vault.admin.index.update()
        identities = {one.state: one.identity for one in vault.admin.index.status().generations}
        old, new = find_calibration(identities["previous"]), find_calibration(identities["current"])
        assert old is not None
        assert new is not None
        assert old != new
