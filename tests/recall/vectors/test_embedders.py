"""The embedder of vectors made before the settings changed: another model at the same address, and nowhere else."""

import json
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from threading import Event
from typing import cast

import pytest

from recollectum.domain.errors import ModelMissing
from recollectum.domain.hit import SearchMode
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.models.embedding.port import Embedder
from recollectum.models.search import SearchModels
from recollectum.recall.vectors.embedders import Embedders
from recollectum.settings.model import EmbeddingSettings
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.models.serving import Asked, LoopbackServer, Reply, in_order, serving_on_loopback
from tests.recall.homes import OWNER, SYNONYMS

_LENGTHS = {"small": 64, "large": 96}


def _answer(asked: Asked) -> Reply:
    """What a server with two models says."""
    model = str(asked.body["model"])
    texts = cast("list[str]", asked.body["input"])
    made = ScriptedEmbedder(model, _LENGTHS[model], synonyms=SYNONYMS).embed(texts, Purpose.PASSAGE)
    rows = [{"index": at, "embedding": [float(one) for one in row]} for at, row in enumerate(made)]
    return Reply({"data": rows})


@pytest.fixture
def server() -> Generator[LoopbackServer]:
    """The provider of every embedder of the test."""
    with serving_on_loopback(_answer) as found:
        yield found


@contextmanager
def _opened(place: Path, model: str, server: LoopbackServer, **more: str) -> Generator[Vault]:
    settings = {"embedding.provider": "openai", "embedding.model": model, "embedding.base_url": server.url, **more}
    with open_home(place, Turning(), settings=settings) as r:
        yield r.vault(OWNER)


def _models(server: LoopbackServer) -> list[str]:
    return [str(asked.body["model"]) for asked in server.asked]


@pytest.mark.loopback
@pytest.mark.feature("A17")
@pytest.mark.feature("G17")
def test_another_model_at_the_same_address_answers_until_the_new_one_is_ready(
    place: Path, server: LoopbackServer
) -> None:
    with _opened(place, "small", server) as vault:
        for text in ("my car is red", *(f"tea of sort {number}" for number in range(40))):
            vault.memories.save(text)
        vault.admin.index.update()
    assert set(_models(server)) == {"small"}
    over = Event()

    def hold(asked: Asked) -> Reply:
        if asked.body["model"] == "large":
            over.wait(5)
        return _answer(asked)

    server.script = hold
    with _opened(place, "large", server) as vault:
        vault.memories.save("the doctor called")
        found = vault.recall("automobile")
        assert (found[0].text, found.rung, found.degraded) == ("my car is red", SearchMode.HYBRID, None)
        found = vault.recall("physician")
        assert (found[0].text, found.rung, found.degraded) == ("the doctor called", SearchMode.HYBRID, None)
        over.set()
        for _ in range(3000):
            if "previous" in [one.state for one in vault.admin.index.status().generations]:
                break
            Event().wait(0.01)
        server.asked.clear()
        found = vault.recall("a feline")
        assert (found.rung, found.degraded, _models(server)) == (SearchMode.HYBRID, None, ["large"])


@pytest.mark.loopback
@pytest.mark.parametrize(("provider", "moved"), [("openai", True), ("ollama", False)])
def test_texts_go_to_the_address_of_the_settings_only(
    place: Path, server: LoopbackServer, provider: str, *, moved: bool
) -> None:
    with _opened(place, "small", server) as vault:
        vault.memories.save("my car is red")
        vault.admin.index.update()
    server.asked.clear()
    server.script = in_order(Reply(status=400, body={}))
    with serving_on_loopback(server.script) as elsewhere:
        named = elsewhere if moved else server
        with _opened(place, "large", named, **{"embedding.provider": provider}) as vault:
            found = vault.recall("car")
            assert (found[0].text, found.rung) == ("my car is red", SearchMode.TEXT)
    assert "small" not in _models(named)
    assert (elsewhere if named is server else server).asked == []


def test_an_identity_is_read_back_from_its_text_and_nothing_else_is() -> None:
    identity = EmbedderIdentity(
        provider="openai", model='é\n"x', digest="", dimensions=3, form="plain", provider_key="k"
    )
    text = identity.text_key()
    assert EmbedderIdentity.from_text_key(text) == identity
    parts = json.loads(text)
    wrong = ["", "nobody's", "{}", "[]", "[1,2,3,4,5,6]", json.dumps([*parts, "more"]), json.dumps(parts), "null"]
    assert [EmbedderIdentity.from_text_key(one) for one in wrong] == [None] * len(wrong)


def test_what_cannot_be_had_is_not_tried_again_and_what_was_opened_is_closed() -> None:
    opened: list[ScriptedEmbedder] = []

    def give(settings: EmbeddingSettings, _: Mapping[str, str]) -> Embedder:
        if settings.model == "gone":
            raise ModelMissing("it is not installed; install it")
        opened.append(_made(settings.provider, settings.model))
        return opened[-1]

    embedders = Embedders(EmbeddingSettings(provider="ollama"), {}, opens=give)
    local, gone = _made("local", "old").identity.text_key(), _made("local", "gone").identity.text_key()
    changed = replace(_made("local", "changed").identity, digest="another").text_key()
    elsewhere = _made("openai", "old").identity.text_key()
    assert embedders.of(local) is embedders.of(local) is opened[-1]
    assert len(opened) == 2
    for other in (gone, changed, elsewhere, "nobody's"):
        assert (embedders.of(other), embedders.of(other)) == (None, None)
    assert [one.identity.model for one in opened] == ["", "old", "changed"]
    assert embedders.why_not(gone) == "gone, which made it, is missing: it is not installed; install it"
    assert (embedders.why_not(local), embedders.why_not(elsewhere)) == (None, None)
    embedders.close()
    assert all(one.closed for one in opened)


def _made(provider: str, model: str) -> ScriptedEmbedder:
    """A scripted embedder whose identity names another provider."""
    made = ScriptedEmbedder(model)
    made.identity = replace(made.identity, provider=provider)
    return made


def test_one_that_was_given_as_an_earlier_one_is_found_by_its_vectors_and_stays_open() -> None:
    new, old = ScriptedEmbedder("new"), ScriptedEmbedder("old")
    embedders = Embedders(EmbeddingSettings(provider="none"), {}, given=SearchModels(new, earlier=(old,)))
    assert embedders.get() == (new, None)
    assert (embedders.of(new.identity.text_key()), embedders.of(old.identity.text_key())) == (new, old)
    assert embedders.of(ScriptedEmbedder("older").identity.text_key()) is None
    embedders.close()
    assert (new.closed, old.closed) == (False, False)
