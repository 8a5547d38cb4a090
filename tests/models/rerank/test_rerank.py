"""Rerankers: over the wire, and a cross-encoder from a folder of one's own."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import pytest

from recollectum.domain.errors import (
    ModelError,
    ModelRefused,
    ModelTimeout,
    ModelUnavailable,
    SettingsError,
)
from recollectum.models.registry.rerank import open_reranker
from recollectum.models.rerank.cross_encoder import CrossEncoder
from recollectum.settings.model import RerankSettings
from tests.models.pair_model import write_pair_model
from tests.models.serving import Asked, Reply, Script, in_order, serving

REMOTE = RerankSettings(model="judge", base_url="https://rank.example/v2", key_variable="RANK_KEY")
ENVIRON = {"RANK_KEY": "rank-1", "COHERE_API_KEY": "not-this"}


def judge(script: Script, texts: Sequence[str], settings: RerankSettings = REMOTE) -> tuple[list[float], list[Asked]]:
    with serving(script) as server:
        reranker = open_reranker("remote", settings, ENVIRON, connect=server.connect)
        assert reranker is not None
        try:
            return reranker.scores("why?", texts), server.asked
        finally:
            reranker.close()


def results(*scores: object) -> Reply:
    # Best first, as these servers answer, with the places in the request.
    rows = [{"index": at, "relevance_score": score} for at, score in enumerate(scores)]
    return Reply({"results": rows[::-1]})


def test_no_texts_are_no_question_to_anybody() -> None:
    assert CrossEncoder(Path("nowhere"), timeout_seconds=1).scores("tea", []) == []


@pytest.mark.feature("A17")
def test_an_endpoint_is_asked_once_and_its_scores_are_put_in_order() -> None:
    found, asked = judge(in_order(results(0.1, -7, 3)), ["one", "two", "three"])
    assert found == [0.1, -7, 3]
    (request,) = asked
    assert request.path == "/v2/rerank"
    assert request.body == {"model": "judge", "query": "why?", "documents": ["one", "two", "three"]}
    assert request.headers["authorization"] == "Bearer rank-1"


def test_what_no_model_reads_is_not_sent() -> None:
    _, asked = judge(in_order(results(1, 2, 3)), ["", "\ud83d half", "word " * 10_000])
    documents = cast("list[str]", asked[0].body["documents"])
    assert json.dumps(documents[:2]).isascii()
    assert documents[0]
    assert 1000 < len(documents[2]) < 3000


def test_trouble_that_may_pass_is_tried_once_more() -> None:
    found, asked = judge(in_order(Reply(status=503, body={}), results(1, 2)), ["one", "two"])
    assert (found, len(asked)) == ([1, 2], 2)
    with pytest.raises(ModelUnavailable):
        judge(in_order(Reply(status=503, body={}, headers={"Retry-After": "0"})), ["one", "two"])


def test_a_server_that_is_silent_is_given_up() -> None:
    with pytest.raises(ModelTimeout, match=r"rank\.example did not answer within 0\.1 s"):
        judge(
            in_order(Reply(hold=True)),
            ["one"],
            RerankSettings(model="m", base_url=REMOTE.base_url, timeout_seconds=0.1),
        )


@pytest.mark.parametrize(
    "body",
    [
        [],
        {},
        "results",
        {"results": None},
        {"results": []},
        {"results": [{"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 0, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 2, "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": "1", "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": "1"}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": True}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": float("nan")}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 1e300}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "relevance_score": 10**400}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": [1], "relevance_score": 1}]},
        {"results": [{"index": 0, "relevance_score": 1}, {"index": 1, "score": 1}]},
        {"results": [{"index": place, "relevance_score": 1} for place in range(3)]},
        {"results": [{"index": place, "relevance_score": 1} for place in (0, 1, 1)]},
    ],
)
def test_an_answer_that_is_not_one_score_for_each_text_is_refused(body: object) -> None:
    with pytest.raises(ModelRefused, match=r"score for each text; check rerank\.base_url"):
        judge(in_order(Reply(body)), ["one", "two"])


def test_a_refusal_names_the_settings_of_the_reranker_and_no_secret() -> None:
    for status, told in (
        (401, "RANK_KEY"),
        (404, r"rerank\.model"),
        (302, r"rerank\.base_url"),
        (400, r"rerank\.model"),
    ):
        with pytest.raises(ModelRefused, match=told) as caught:
            judge(in_order(Reply(status=status, body={"error": "secret words"})), ["secret text"])
        assert not {"secret", "rank-1"} & set(str(caught.value).replace(";", " ").split())


@pytest.mark.parametrize(
    ("way", "settings", "told"),
    [
        ("remote", RerankSettings(model="m"), r"rerank\.base_url is empty"),
        ("remote", RerankSettings(base_url="https://rank.example"), r"rerank\.model is empty"),
        ("remote", RerankSettings(model="m", base_url="http://rank.example"), r"rerank\.plain_http"),
        ("remote", RerankSettings(model="m", base_url="https://a:b@rank.example"), r"rerank\.base_url holds more"),
        ("local", RerankSettings(), r"rerank\.model is empty"),
        ("locl", RerankSettings(), r"the nearest is 'local'"),
    ],
)
def test_settings_that_name_no_reranker_are_told(way: str, settings: RerankSettings, told: str) -> None:
    with pytest.raises(SettingsError, match=told):
        open_reranker(way, settings, {})


@pytest.mark.feature("A17")
def test_a_key_comes_from_the_variable_that_is_named_and_from_nowhere_else() -> None:
    with pytest.raises(ModelRefused, match=r"rerank\.key_variable names a variable that is not set") as caught:
        open_reranker("remote", RerankSettings(model="m", base_url=REMOTE.base_url, key_variable="sk-1"), ENVIRON)
    assert "sk-1" not in str(caught.value)
    _, asked = judge(in_order(results(1)), ["one"], RerankSettings(model="m", base_url=REMOTE.base_url))
    assert "authorization" not in asked[0].headers


def test_off_is_none() -> None:
    assert open_reranker("off", RerankSettings(), {}) is None


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model whose score is how often the two have a word together, as far as its few words go."""
    place = tmp_path_factory.mktemp("pairs")
    write_pair_model(place)
    return place


@pytest.mark.feature("A17")
@pytest.mark.parametrize("kinds", [True, False])
def test_a_cross_encoder_from_a_folder_reads_both_together(tmp_path: Path, *, kinds: bool) -> None:
    write_pair_model(tmp_path, kinds=kinds)
    reranker = open_reranker("local", RerankSettings(model=str(tmp_path)), {})
    assert isinstance(reranker, CrossEncoder)
    assert reranker.identity.provider == "local"
    # Words are numbered from 10: [CLS] question [SEP] text [SEP], and the model adds the numbers of the text up, or of
    # everything where it is not told which is which.
    shift = 0 if kinds else 1 + 10 + 2
    assert reranker.scores("tea", ["tea", "tea car", "", "car"]) == [
        one + shift for one in (10 + 2, 10 + 11 + 2, 2, 11 + 2)
    ]
    reranker.close()
    assert reranker.scores("tea", ["car"]) == [13 + shift]


def test_a_pair_scores_the_same_in_any_company_and_any_text_is_legal(folder: Path) -> None:
    reranker = CrossEncoder(folder, timeout_seconds=10)
    texts = ["tea " * 3000, "car", "\ud83d", "\x00", "tea car tea", "car car car", "[SEP] tea"]
    together = reranker.scores("tea " * 3000, texts)
    assert together == [reranker.scores("tea " * 3000, [text])[0] for text in texts]


def test_a_cross_encoder_that_takes_too_long_is_given_up(folder: Path) -> None:
    now = iter(range(1000))
    reranker = CrossEncoder(folder, timeout_seconds=1, clock=lambda: float(next(now)))
    with pytest.raises(ModelTimeout, match=r"rerank\.timeout_seconds"):
        reranker.scores("tea", ["tea", "tea car", "tea car tea"])


def _spoil(folder: Path, name: str, content: bytes | None) -> None:
    if content is None:
        (folder / name).unlink()
    else:
        (folder / name).write_bytes(content)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
@pytest.mark.parametrize("content", [None, b"", b"{}", b"\xff\x00 nonsense"])
def test_a_folder_that_holds_no_model_is_told_in_a_sentence(tmp_path: Path, name: str, content: bytes | None) -> None:
    write_pair_model(tmp_path)
    _spoil(tmp_path, name, content)
    with pytest.raises(ModelError, match=r"rerank\.model") as caught:
        CrossEncoder(tmp_path, timeout_seconds=1).scores("a secret", ["another"])
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("columns", "told"), [(2, "no single score"), (0, "not numbers")])
def test_a_model_of_another_kind_is_refused(tmp_path: Path, columns: int, told: str) -> None:
    write_pair_model(tmp_path, columns=columns)
    with pytest.raises(ModelRefused, match=told):
        CrossEncoder(tmp_path, timeout_seconds=1).scores("tea", ["tea", "car"])
