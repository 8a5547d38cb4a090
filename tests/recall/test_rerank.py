"""The head of a list judged again: what moves, what stays, and that no trouble of a judge is one of recall."""

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import ModelError, ModelMissing, ModelTimeout, SettingsError
from recollectum.domain.hit import RecallResult, SearchMode
from recollectum.domain.models.language_model import ModelIdentity
from recollectum.models.rerank.port import Reranker
from recollectum.recall.rerank import MODEL_SHARE, Rerankers, mix_scores
from recollectum.recall.scoring import FusedScore
from recollectum.settings.model import RerankSettings
from recollectum.vault.recall import RecallRequest, recall
from tests.recall.homes import OWNER, home, opened

OPENING = "recollectum.recall.rerank.open_reranker"


class Judge:
    """Likes what it was told to, each text by its score, and keeps what it was asked."""

    identity = ModelIdentity(provider="scripted", model="judge")

    def __init__(self, likes: Mapping[str, float], error: ModelError | None = None) -> None:
        self.likes = likes
        self.error = error
        self.asked: list[tuple[str, tuple[str, ...]]] = []
        self.during: Callable[[], object] = lambda: None
        self.closed = False

    def scores(self, query: str, texts: Sequence[str]) -> list[float]:
        self.asked.append((query, tuple(texts)))
        self.during()
        if self.error:
            raise self.error
        return [self.likes.get(text, 0.0) for text in texts]

    def close(self) -> None:
        self.closed = True


def rerankers(
    judge: Reranker | Exception | None,
    monkeypatch: pytest.MonkeyPatch,
    way: str = "remote",
    opened: list[str] | None = None,
) -> Rerankers:
    """The rerankers of settings that lead to this judge; `opened` is told of each time one is looked for."""

    def give(wanted: str, _: RerankSettings, __: Mapping[str, str]) -> Reranker | None:
        if opened is not None:
            opened.append(wanted)
        if isinstance(judge, Exception):
            raise judge
        return judge

    monkeypatch.setattr(OPENING, give)
    return Rerankers(way, RerankSettings(), {})


@contextmanager
def asking(place: Path, limit: int = 10) -> Generator[Callable[[str, Rerankers | None, int], RecallResult]]:
    """How a vault answers a question by words, with its head judged."""
    with opened(place, None) as vault:

        def ask(query: str, judges: Rerankers | None, head: int) -> RecallResult:
            runtime = vault._runtime  # pyright: ignore[reportPrivateUsage]
            rules = replace(runtime.settings, recall=replace(runtime.settings.recall, rerank_head=head))
            services = replace(runtime.home, rerankers=judges)
            return recall(replace(runtime, home=services, settings=rules), RecallRequest(query=query, limit=limit))

        yield ask


def filled(place: Path, *texts: str) -> None:
    with home(place) as found:
        for text in texts:
            found.vault(OWNER).memories.save(text)


def texts_of(found: RecallResult) -> list[str]:
    return [hit.text for hit in found]


TEAS = ("tea tea tea", "tea with milk", "tea and a long story about cups", "tea in the far north of the old country")


def test_the_head_is_ordered_by_both_and_says_how_much_the_judge_added(
    place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = ask("tea", None, 30)
        liked = before[1].text
        judge = Judge({liked: 10.0})
        found = ask("tea", rerankers(judge, monkeypatch), 30)
        assert found[0].text == liked
        assert (found.rung, found.degraded) == (SearchMode.TEXT, None)
        assert judge.asked == [("tea", tuple(texts_of(before)))]
        deltas = {hit.text: dict(hit.reasons.added)["rerank"] for hit in found}
        assert deltas[liked] == max(deltas.values()) > 0
        assert sum(deltas.values()) == pytest.approx(0)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        assert texts_of(ask("tea", rerankers(judge, monkeypatch), 30)) == texts_of(found)


def test_only_the_head_is_judged(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = texts_of(ask("tea", None, 30))
        judge = Judge({before[1]: 1.0})
        found = ask("tea", rerankers(judge, monkeypatch), 2)
        assert judge.asked == [("tea", tuple(before[:2]))]
        assert sorted(texts_of(found)) == sorted(before)
        assert found[0].text == before[1]
        assert all(not dict(hit.reasons.added).get("rerank") for hit in found if hit.text in before[2:])


def test_a_turn_is_judged_with_its_speaker(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with home(place) as found:
        session = found.vault(OWNER).sessions.open()
        session.add("user", "tea is green", speaker="Ann")
        session.add("user", "my tea was black, and I drank it with milk", speaker="Bob")
    judge = Judge({})
    with asking(place) as ask:
        ask("tea", rerankers(judge, monkeypatch), 30)
    assert set(judge.asked[0][1]) == {"Ann: tea is green", "Bob: my tea was black, and I drank it with milk"}


@pytest.mark.feature("G11")
@pytest.mark.parametrize("error", [ModelTimeout("the judge sleeps"), ModelMissing("no judge; get one")])
def test_a_judge_that_fails_leaves_the_order_and_is_told(
    place: Path, monkeypatch: pytest.MonkeyPatch, error: ModelError
) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = ask("tea", None, 30)
        found = ask("tea", rerankers(Judge({TEAS[3]: 9.0}, error), monkeypatch), 30)
        assert list(found) == list(before)
        assert (found.rung, found.degraded, before.degraded) == (SearchMode.TEXT, str(error), None)


@pytest.mark.feature("G11")
@pytest.mark.parametrize("error", [SettingsError("rerank.model is empty"), ModelMissing("no tokens")])
def test_a_judge_that_cannot_be_opened_is_a_reason_and_is_not_tried_again(
    place: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = ask("tea", None, 30)
        opened: list[str] = []
        judges = rerankers(error, monkeypatch, opened=opened)
        assert [ask("tea", judges, 30).degraded for _ in range(2)] == [str(error)] * 2
        assert opened == ["remote"]
        assert list(ask("tea", judges, 30)) == list(before)


def test_what_is_forgotten_while_the_judge_thinks_is_not_served(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(place, *TEAS)
    judge = Judge({TEAS[1]: 5.0})

    def forget() -> None:
        with home(place) as found:
            vault = found.vault(OWNER)
            (one,) = [hit for hit in vault.recall("milk") if hit.text == TEAS[1]]
            vault.memories.forget(one.source.memory_id or "")
            vault.memories.save("tea at five")

    judge.during = forget
    with asking(place) as ask:
        found = texts_of(ask("tea", rerankers(judge, monkeypatch), 30))
    assert TEAS[1] not in found
    assert "tea at five" in found


def test_one_hit_and_none_need_no_judge(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filled(place, "tea is green", "my car is red")
    judge = Judge({})
    judges = rerankers(judge, monkeypatch)
    with asking(place) as ask:
        assert texts_of(ask("tea", judges, 30)) == ["tea is green"]
        assert texts_of(ask("nothing", judges, 30)) == []
        assert texts_of(ask(" ", judges, 30)) == []
        assert judge.asked == []
        judges.close()
        assert judge.closed


def test_off_opens_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    judges = rerankers(AssertionError("it was opened"), monkeypatch, "off")
    assert judges.get() == (None, None)
    judges.close()


_FINITE = st.floats(-1e6, 1e6)
_RANKED = st.lists(_FINITE, max_size=12).map(
    lambda scores: [
        FusedScore(number, score, score, ()) for number, score in enumerate(sorted(scores, reverse=True), start=1)
    ]
)


@given(_RANKED, st.lists(_FINITE, min_size=1, max_size=12))
def test_mixing_loses_nobody_and_its_order_is_total(ranked: list[FusedScore], scores: list[float]) -> None:
    given_scores = {one.number: score for one, score in zip(ranked, scores, strict=False)}
    if not given_scores:
        return
    found = mix_scores(ranked, given_scores)
    assert sorted(one.number for one in found) == sorted(one.number for one in ranked)
    assert [one.score for one in found] == sorted((one.score for one in found), reverse=True)
    assert mix_scores(ranked, given_scores) == found
    for one in found:
        before = ranked[one.number - 1]
        assert one.score == before.score + sum(value for _, value in one.added)
        assert one.number in given_scores or one == before


@given(_RANKED)
def test_a_judge_who_sees_no_difference_or_the_same_one_changes_no_order(ranked: list[FusedScore]) -> None:
    if len(ranked) < 2:
        return
    assert mix_scores(ranked, {one.number: 3.5 for one in ranked}) == ranked
    spread = ranked[0].score - ranked[-1].score
    if spread > 1e-3:
        agreed = mix_scores(ranked, {one.number: 2 * one.score + 1 for one in ranked})
        assert [one.score for one in agreed] == pytest.approx([one.score for one in ranked], rel=1e-6, abs=1e-6)


def test_the_judge_has_half_of_a_score() -> None:
    ranked = [FusedScore(1, 3.0, 3.0, ()), FusedScore(2, 1.0, 1.0, (("who", 1.0),))]
    found = mix_scores(ranked, {1: -5.0, 2: 5.0})
    # Both means are 2 and both spreads 1: what the judge alone would say is 1 and 3.
    assert [(one.number, one.score) for one in found] == [(2, 2.0), (1, 2.0)]
    assert found[0].added == (("who", 1.0), ("rerank", MODEL_SHARE * 2))
    even = [FusedScore(1, 1.0, 1.0, ()), FusedScore(2, 1.0, 1.0, ())]
    assert [one.number for one in mix_scores(even, {1: 0.9, 2: 0.1})] == [1, 2]
