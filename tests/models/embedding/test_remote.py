"""Embedders behind endpoints: each dialect on the wire, and answers that are not vectors."""

from collections.abc import Sequence
from typing import cast

import numpy as np
import pytest

from recollectum.domain.errors import ModelRefused
from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.port import Embedder, Vectors
from recollectum.models.registry.embedding import open_embedder
from recollectum.settings.model import EmbeddingSettings
from tests.models.serving import Asked, Reply, Script, Server, in_order, serving

ENVIRON = {"OPENAI_API_KEY": "open-1", "GEMINI_API_KEY": "gem-1", "OTHER_KEY": "other-1"}


def embed(
    settings: EmbeddingSettings, script: Script, texts: Sequence[str], purpose: Purpose
) -> tuple[Vectors, Server]:
    """What an embedder of these settings makes of the texts, and the server it asked."""
    with serving(script) as server:
        embedder = opened(settings, server)
        try:
            return embedder.embed(texts, purpose), server
        finally:
            embedder.close()


def opened(settings: EmbeddingSettings, server: Server) -> Embedder:
    embedder = open_embedder(settings, ENVIRON, connect=server.connect)
    assert embedder is not None
    return embedder


def openai_reply(*rows: object) -> Reply:
    # Backwards: a server may answer in any order.
    data = [{"index": at, "embedding": row} for at, row in enumerate(rows)]
    return Reply({"object": "list", "data": data[::-1]})


@pytest.mark.feature("A17")
def test_openai_is_asked_for_floats_and_may_answer_in_any_order() -> None:
    settings = EmbeddingSettings(provider="openai")
    found, server = embed(settings, in_order(openai_reply([3, 4], [0, -2])), ["one", "two"], Purpose.PASSAGE)
    assert found.tolist() == pytest.approx(np.array([[0.6, 0.8], [0, -1]]))
    assert found.dtype == np.float32
    (asked,) = server.asked
    assert asked.path == "/v1/embeddings"
    assert asked.body == {"model": "text-embedding-3-small", "input": ["one", "two"], "encoding_format": "float"}
    assert asked.headers["authorization"] == "Bearer open-1"


@pytest.mark.feature("A17")
def test_any_server_that_speaks_openai_is_asked_for_its_own_model_with_its_own_key() -> None:
    settings = EmbeddingSettings(
        provider="openai",
        base_url="http://localhost:8080/api",
        model="intfloat/e5-small",
        key_variable="OTHER_KEY",
        dimensions=2,
    )
    _, server = embed(settings, in_order(openai_reply([1, 0])), ["where?"], Purpose.QUERY)
    (asked,) = server.asked
    assert asked.path == "/api/embeddings"
    assert asked.body == {
        "model": "intfloat/e5-small",
        "input": ["query: where?"],
        "encoding_format": "float",
        "dimensions": 2,
    }
    assert asked.headers["authorization"] == "Bearer other-1"


@pytest.mark.feature("A17")
@pytest.mark.parametrize("provider", ["openai", "gemini", "ollama"])
def test_another_server_is_not_handed_the_usual_key(provider: str) -> None:
    settings = EmbeddingSettings(provider=provider, base_url="http://localhost:8080")

    def script(_: Asked) -> Reply:
        return Reply(status=401)

    with serving(script) as server:
        embedder = opened(settings, server)
        with pytest.raises(ModelRefused, match=r"name its variable in embedding\.key_variable"):
            embedder.embed(["text"], Purpose.QUERY)
        embedder.close()
    assert not {"open-1", "gem-1", "Bearer open-1"} & set(server.asked[0].headers.values())


@pytest.mark.parametrize(
    ("purpose", "task"), [(Purpose.PASSAGE, "RETRIEVAL_DOCUMENT"), (Purpose.QUERY, "RETRIEVAL_QUERY")]
)
def test_gemini_is_told_the_task_and_the_key_is_not_in_the_address(purpose: Purpose, task: str) -> None:
    settings = EmbeddingSettings(provider="gemini", dimensions=2)
    reply = Reply({"embeddings": [{"values": [3, 4]}, {"values": [1, 0]}]})
    found, server = embed(settings, in_order(reply), ["one", "two"], purpose)
    assert found.shape == (2, 2)
    (asked,) = server.asked
    assert asked.path == "/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert asked.headers["x-goog-api-key"] == "gem-1"
    assert asked.body == {
        "requests": [
            {
                "model": "models/gemini-embedding-001",
                "taskType": task,
                "outputDimensionality": 2,
                "content": {"parts": [{"text": text}]},
            }
            for text in ("one", "two")
        ]
    }


def test_ollama_cuts_by_itself_and_gets_the_words_its_model_wants() -> None:
    settings = EmbeddingSettings(provider="ollama")
    found, server = embed(settings, in_order(Reply({"embeddings": [[0, 5]]})), ["one"], Purpose.PASSAGE)
    assert found.tolist() == [[0, 1]]
    (asked,) = server.asked
    assert asked.path == "/api/embed"
    assert asked.body == {"model": "nomic-embed-text", "input": ["search_document: one"], "truncate": True}
    assert "authorization" not in asked.headers


@pytest.mark.parametrize(
    "reply",
    [
        Reply({}),
        Reply([]),
        Reply(None),
        Reply({"data": 7}),
        Reply({"data": [7]}),
        Reply({"data": [{"index": 0}]}),
        openai_reply(),
        openai_reply([1, 0], [0, 1]),
        openai_reply([]),
        openai_reply(["a", "b"]),
        openai_reply(7),
        openai_reply(None),
        openai_reply([1, [2]]),
        openai_reply([1e39, 1]),
        Reply(raw=b'{"data": [{"index": 0, "embedding": [NaN, 1]}]}'),
        Reply(raw=b'{"data": [{"index": 0, "embedding": [1, null]}]}'),
    ],
)
def test_an_answer_that_is_not_one_vector_for_each_text_is_refused(reply: Reply) -> None:
    with pytest.raises(ModelRefused, match=r"vectors; check embedding\.base_url"):
        embed(EmbeddingSettings(provider="openai"), in_order(reply), ["secret words"], Purpose.PASSAGE)


@pytest.mark.parametrize("dimensions", [0, 2])
def test_a_model_that_changes_its_length_is_refused_and_never_mixed(dimensions: int) -> None:
    settings = EmbeddingSettings(provider="openai", dimensions=dimensions)
    with serving(in_order(openai_reply([1, 0]), openai_reply([1, 0, 0]))) as server:
        embedder = opened(settings, server)
        assert embedder.embed(["one"], Purpose.PASSAGE).shape == (1, 2)
        with pytest.raises(ModelRefused, match="of 3 dimensions, not 2"):
            embedder.embed(["two"], Purpose.PASSAGE)
        embedder.close()


def test_no_texts_are_no_call() -> None:
    found, server = embed(EmbeddingSettings(provider="openai"), in_order(Reply()), [], Purpose.PASSAGE)
    assert found.shape == (0, 0)
    assert not server.asked


def _texts(asked: Asked) -> list[str]:
    return cast("list[str]", asked.body["input"])


def _echo(asked: Asked) -> Reply:
    return openai_reply(*([1, len(text)] for text in _texts(asked)))


def test_any_text_is_legible_and_not_too_long_when_it_is_sent() -> None:
    texts = ["", " \n", "nul \0", "half \ud83d", "word " * 50_000, "字" * 50_000]
    settings = EmbeddingSettings(provider="openai", base_url="http://localhost:1", model="unknown", batch=2)
    found, server = embed(settings, _echo, texts, Purpose.PASSAGE)
    assert found.shape == (6, 2)
    sent = [text for asked in server.asked for text in _texts(asked)]
    assert sorted(sent, key=len)[:2] == [".", "."]
    assert not [text for text in sent if "\0" in text or "\ud83d" in text or not text.strip()]
    assert max(map(len, sent)) <= 4 * 512


@pytest.mark.feature("A17")
def test_many_texts_go_in_several_calls_and_come_back_in_order() -> None:
    texts = ["x" * (count + 1) for count in range(50)]
    settings = EmbeddingSettings(provider="openai", batch=7, concurrency=3)
    found, server = embed(settings, _echo, texts, Purpose.PASSAGE)
    assert [round(float(row[1] / row[0])) for row in found] == [len(text) for text in texts]
    assert max(len(_texts(asked)) for asked in server.asked) == 7
    assert len(server.asked) == 8
    assert 1 <= server.connections <= 3


def test_a_busy_server_is_asked_again() -> None:
    busy = Reply(status=503, headers={"Retry-After": "0"})
    found, server = embed(
        EmbeddingSettings(provider="openai"), in_order(busy, openai_reply([1, 0])), ["one"], Purpose.QUERY
    )
    assert found.tolist() == [[1, 0]]
    assert len(server.asked) == 2
