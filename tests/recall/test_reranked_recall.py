"""A vault whose settings ask for a judge: recall goes through it, and does without it where it must."""

from collections.abc import Generator, Mapping
from pathlib import Path
from typing import cast

import pytest

from recollectum.domain.hit import SearchMode
from recollectum.models.registry import rerank
from recollectum.models.rerank.port import Reranker
from recollectum.settings.model import RerankSettings
from tests.models.pair_model import write_pair_model
from tests.models.serving import Asked, Reply, Server, in_order, serving
from tests.recall.homes import OWNER, home, opened, scripted

TEXTS = ("tea tea tea", "tea with milk", "a story about tea, cups and the old country")
REMOTE = {"recall.rerank": "remote", "rerank.model": "judge", "rerank.base_url": "https://rank.example/v1"}


def likes_milk(asked: Asked) -> Reply:
    documents = cast("list[str]", asked.body["documents"])
    return Reply(
        {"results": [{"index": at, "relevance_score": 9 * ("milk" in one)} for at, one in enumerate(documents)]}
    )


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Generator[Server]:
    """Where every reranker of the test finds its provider."""
    with serving(likes_milk) as found:

        def give(way: str, settings: RerankSettings, environ: Mapping[str, str]) -> Reranker | None:
            return rerank.open_reranker(way, settings, environ, connect=found.connect)

        monkeypatch.setattr("recollectum.recall.rerank.open_reranker", give)
        yield found


@pytest.mark.feature("A17")
def test_recall_asks_the_endpoint_of_the_settings(place: Path, server: Server) -> None:
    with opened(place, scripted(), settings=REMOTE) as vault:
        for text in TEXTS:
            vault.memories.save(text)
        found = vault.recall("tea", limit=1)
        assert ([hit.text for hit in found], found.rung, found.degraded) == (["tea with milk"], SearchMode.HYBRID, None)
        assert dict(found[0].reasons.added)["rerank"] > 0
        assert len(server.asked) == 1


@pytest.mark.feature("G11")
def test_an_endpoint_that_is_out_of_order_is_told_and_the_order_stays(place: Path, server: Server) -> None:
    server.script = in_order(Reply(status=400, body={}))
    with opened(place, scripted(), settings=REMOTE) as vault:
        for text in TEXTS:
            vault.memories.save(text)
        found = vault.recall("tea")
        assert found.degraded is not None
        assert "rank.example" in found.degraded
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
