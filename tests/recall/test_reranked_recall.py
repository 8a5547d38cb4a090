"""A vault whose settings ask for a judge: recall goes through it, and does without it where it must."""

from collections.abc import Generator
from pathlib import Path
from typing import cast

import pytest

from recollectum.domain.hit import SearchMode
from recollectum.models.search import SearchModels
from recollectum.testing import ScriptedReranker
from tests.models.pair_model import write_pair_model
from tests.models.serving import Asked, LoopbackServer, Reply, in_order, serving_on_loopback
from tests.recall.homes import OWNER, home, opened, scripted

TEXTS = ("tea tea tea", "tea with milk", "a story about tea, cups and the old country")


def likes_milk(asked: Asked) -> Reply:
    documents = cast("list[str]", asked.body["documents"])
    return Reply(
        {"results": [{"index": at, "relevance_score": 9 * ("milk" in one)} for at, one in enumerate(documents)]}
    )


@pytest.fixture
def server() -> Generator[LoopbackServer]:
    """The provider of every reranker of the test."""
    with serving_on_loopback(likes_milk) as found:
        yield found


def remote(server: LoopbackServer) -> dict[str, object]:
    return {"recall.rerank": "remote", "rerank.model": "judge", "rerank.base_url": server.url}


@pytest.mark.loopback
@pytest.mark.feature("A17")
def test_recall_asks_the_endpoint_of_the_settings(place: Path, server: LoopbackServer) -> None:
    with opened(place, scripted(), settings=remote(server)) as vault:
        for text in TEXTS:
            vault.memories.save(text)
        found = vault.recall("tea", limit=1)
        assert ([hit.text for hit in found], found.rung, found.degraded) == (["tea with milk"], SearchMode.HYBRID, None)
        assert dict(found[0].reasons.added)["rerank"] > 0
        assert len(server.asked) == 1


@pytest.mark.loopback
@pytest.mark.feature("G11")
def test_an_endpoint_that_is_out_of_order_is_told_and_the_order_stays(place: Path, server: LoopbackServer) -> None:
    server.script = in_order(Reply(status=400, body={}))
    with opened(place, scripted(), settings=remote(server)) as vault:
        for text in TEXTS:
            vault.memories.save(text)
        found = vault.recall("tea")
        assert found.degraded is not None
        assert server.name in found.degraded
        assert len(found) == 3
        assert all("rerank" not in dict(hit.reasons.added) for hit in found)


def test_a_model_of_ones_own_judges(place: Path, tmp_path: Path) -> None:
    write_pair_model(tmp_path)
    settings = {"recall.rerank": "local", "rerank.model": str(tmp_path)}
    with home(place, settings=settings) as found:
        vault = found.vault(OWNER)
        for text in TEXTS:
            vault.memories.save(text)
        hits = vault.recall("tea")
        assert hits.degraded is None
        assert any("rerank" in dict(hit.reasons.added) for hit in hits)


@pytest.mark.parametrize("way", ["off", "remote"])
def test_a_reranker_that_the_program_hands_in_is_used_whatever_the_settings_say(place: Path, way: str) -> None:
    judge = ScriptedReranker({"tea with milk": 9.0})
    with home(place, settings={"recall.rerank": way}, embedder=SearchModels(reranker=judge)) as found:
        vault = found.vault(OWNER)
        for text in TEXTS:
            vault.memories.save(text)
        hits = vault.recall("tea")
        assert (hits[0].text, hits.rung, hits.degraded) == ("tea with milk", SearchMode.TEXT, None)
        assert [query for query, _ in judge.calls] == ["tea"]
    # The program that handed it in closes it.
    assert not judge.closed
