"""The head of a list judged again: what moves, what stays, and that no trouble of a judge is one of recall."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.errors import ModelError, ModelMissing, ModelTimeout, SettingsError
from recollectum.domain.hit import RecallResult, SearchMode
from recollectum.models.rerank.port import Reranker
from recollectum.recall.rerank import MODEL_SHARE, Rerankers, mix_scores
from recollectum.recall.scoring import FusedScore
from recollectum.settings.model import RerankSettings
from recollectum.testing import ScriptedReranker
from recollectum.vault.recall import RecallRequest, recall
from tests.recall.homes import OWNER, home, opened


def rerankers(judge: Reranker) -> Rerankers:
    """What a home with this judge has."""
    return Rerankers("off", RerankSettings(), {}, judge)


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


def test_the_head_is_ordered_by_both_and_says_how_much_the_judge_added(place: Path) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = ask("tea", None, 30)
        liked = before[1].text
        judge = ScriptedReranker({liked: 10.0})
        found = ask("tea", rerankers(judge), 30)
        assert found[0].text == liked
        assert (found.rung, found.degraded) == (SearchMode.TEXT, None)
        assert judge.calls == [("tea", tuple(texts_of(before)))]
        deltas = {hit.text: dict(hit.reasons.added)["rerank"] for hit in found}
        assert deltas[liked] == max(deltas.values()) > 0
        assert sum(deltas.values()) == pytest.approx(0)
        assert [hit.score for hit in found] == sorted((hit.score for hit in found), reverse=True)
        assert texts_of(ask("tea", rerankers(judge), 30)) == texts_of(found)


def test_only_the_head_is_judged(place: Path) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = texts_of(ask("tea", None, 30))
        judge = ScriptedReranker({before[1]: 1.0})
        found = ask("tea", rerankers(judge), 2)
        assert judge.calls == [("tea", tuple(before[:2]))]
        assert sorted(texts_of(found)) == sorted(before)
        assert found[0].text == before[1]
        assert all(not dict(hit.reasons.added).get("rerank") for hit in found if hit.text in before[2:])


def test_a_turn_is_judged_with_its_speaker(place: Path) -> None:
    with home(place) as found:
        session = found.vault(OWNER).sessions.open()
        session.add("user", "tea is green", speaker="Ann")
        session.add("user", "my tea was black, and I drank it with milk", speaker="Bob")
    judge = ScriptedReranker({})
    with asking(place) as ask:
        ask("tea", rerankers(judge), 30)
    assert set(judge.calls[0][1]) == {"Ann: tea is green", "Bob: my tea was black, and I drank it with milk"}


@pytest.mark.feature("G11")
@pytest.mark.parametrize("error", [ModelTimeout("the judge sleeps"), ModelMissing("no judge; get one")])
def test_a_judge_that_fails_leaves_the_order_and_is_told(place: Path, error: ModelError) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = ask("tea", None, 30)
        found = ask("tea", rerankers(ScriptedReranker({TEAS[3]: 9.0}, fail=lambda _query, _texts: error)), 30)
        assert list(found) == list(before)
        assert (found.rung, found.degraded, before.degraded) == (SearchMode.TEXT, str(error), None)


@pytest.mark.feature("G11")
@pytest.mark.parametrize("error", [SettingsError("rerank.model is empty"), ModelMissing("no tokens")])
def test_a_judge_that_cannot_be_opened_is_a_reason_and_is_not_tried_again(place: Path, error: Exception) -> None:
    filled(place, *TEAS)
    with asking(place) as ask:
        before = ask("tea", None, 30)
        opened: list[str] = []

        def fail(way: str, *_: object) -> Reranker | None:
            opened.append(way)
            raise error

        judges = Rerankers("remote", RerankSettings(), {}, opens=fail)
        assert [ask("tea", judges, 30).degraded for _ in range(2)] == [str(error)] * 2
        assert opened == ["remote"]
        assert list(ask("tea", judges, 30)) == list(before)


def test_what_is_forgotten_while_the_judge_thinks_is_not_served(place: Path) -> None:
    filled(place, *TEAS)
    judge = ScriptedReranker({TEAS[1]: 5.0})

    def forget(*_: object) -> None:
        with home(place) as found:
            vault = found.vault(OWNER)
            (one,) = [hit for hit in vault.recall("milk") if hit.text == TEAS[1]]
            vault.memories.forget(one.source.memory_id or "")
            vault.memories.save("tea at five")

    judge.fail = forget
    with asking(place) as ask:
        found = texts_of(ask("tea", rerankers(judge), 30))
    assert TEAS[1] not in found
    assert "tea at five" in found


def test_one_hit_and_none_need_no_judge(place: Path) -> None:
    filled(place, "tea is green", "my car is red")
    judge = ScriptedReranker({})
    judges = rerankers(judge)
    with asking(place) as ask:
        assert texts_of(ask("tea", judges, 30)) == ["tea is green"]
        assert texts_of(ask("nothing", judges, 30)) == []
        assert texts_of(ask(" ", judges, 30)) == []
        assert judge.calls == []


def test_what_was_opened_is_closed_and_what_was_given_is_not() -> None:
    given, opened = ScriptedReranker(), ScriptedReranker()
    for judges in (
        rerankers(given),
        Rerankers("remote", RerankSettings(), {}, opens=lambda _way, _settings, _environ: opened),
    ):
        judges.get()
        judges.close()
    assert (given.closed, opened.closed) == (False, True)


def test_off_opens_nothing() -> None:
    opened: list[str] = []
    judges = Rerankers("off", RerankSettings(), {}, opens=lambda way, _settings, _environ: opened.append(way))
    assert judges.get() == (None, None)
    judges.close()
    assert opened == []


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
