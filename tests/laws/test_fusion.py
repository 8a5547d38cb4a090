"""Laws of the ranking: a better reason never ranks lower, the order is whole, and turns gain only within a dialogue."""

import random
import sys
from itertools import pairwise
from types import FrameType

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollectum.recall.scoring import (
    AFTER_TURNS,
    AFTER_WEIGHT,
    BEFORE_DECAY,
    BEFORE_TURNS,
    BEFORE_WEIGHT,
    REPLY_WEIGHT,
    SESSION_WEIGHT,
    TOLD_NEUTRAL,
    FusedScore,
    SearchCandidate,
    TurnPlace,
    boost_by_context,
    fuse_scores,
    measure_scale,
)

pytestmark = [pytest.mark.process, pytest.mark.slow]

# Eighths are exact, so that two sums which are equal on paper are equal here.
_COSINES = st.integers(-8, 8).map(lambda eighths: eighths / 8)
_SCORES = st.integers(0, 160).map(lambda eighths: eighths / 8)


@st.composite
def _candidates(draw: st.DrawFn, least: int = 0, most: int = 12) -> list[SearchCandidate]:
    numbers = draw(st.lists(st.integers(1, 1000), min_size=least, max_size=most, unique=True))
    return [
        SearchCandidate(
            number=number,
            cosine=draw(st.none() | _COSINES),
            bm25=draw(_SCORES),
            turn=draw(st.booleans()),
            named=draw(st.booleans()),
            own=draw(st.booleans()),
            told=draw(st.none() | st.integers(0, 200)),
            echo=draw(st.sampled_from([0.0, 0.5, 1.0])),
            when=draw(st.sampled_from([0.0, 0.5, 1.0])),
            assistant=draw(st.booleans()),
            importance=draw(st.sampled_from([0.0, 0.5, 1.0])),
            distrust=draw(st.integers(0, 3)),
        )
        for number in numbers
    ]


def _plain(number: int, cosine: float | None, bm25: float) -> SearchCandidate:
    return SearchCandidate(number=number, cosine=cosine, bm25=bm25)


def _order(fused: list[FusedScore]) -> list[int]:
    return [one.number for one in fused]


def _ranked(candidates: list[SearchCandidate]) -> list[FusedScore]:
    return fuse_scores(candidates)[0]


@given(_candidates())
@pytest.mark.feature("G11")
def test_the_order_is_whole_and_does_not_depend_on_the_order_of_arrival(candidates: list[SearchCandidate]) -> None:
    ranked = _ranked(candidates)
    assert sorted(_order(ranked)) == sorted(one.number for one in candidates)
    assert ranked == sorted(ranked, key=lambda one: (-one.score, -one.number))
    assert _ranked(candidates) == ranked
    assert _ranked(candidates[::-1]) == ranked


@given(st.lists(st.tuples(_COSINES, _SCORES), min_size=2, max_size=12))
@pytest.mark.feature("G11")
def test_who_is_nowhere_behind_and_somewhere_ahead_ranks_higher(values: list[tuple[float, float]]) -> None:
    candidates = [_plain(number, *value) for number, value in enumerate(values, 1)]
    score = {one.number: one.score for one in _ranked(candidates)}
    for one in candidates:
        for other in candidates:
            ahead = one.bm25 >= other.bm25 and (one.cosine or 0) >= (other.cosine or 0)
            if ahead and (one.bm25, one.cosine) != (other.bm25, other.cosine):
                assert score[one.number] > score[other.number]
            elif ahead:
                assert score[one.number] == score[other.number]


@given(st.lists(st.tuples(st.none() | _COSINES, _SCORES), max_size=12), st.integers(-3, 3), st.integers(-3, 3))
def test_the_scale_of_an_arm_does_not_matter(
    values: list[tuple[float | None, float]], cosine_power: int, text_power: int
) -> None:
    candidates = [_plain(number, *value) for number, value in enumerate(values, 1)]
    # Powers of two and whole steps are exact, so a change of order would not be one of rounding.
    other = [
        _plain(
            one.number,
            None if one.cosine is None else one.cosine * 2.0**cosine_power + 3,
            one.bm25 * 2.0**text_power + 5,
        )
        for one in candidates
    ]
    before, after = _ranked(candidates), _ranked(other)
    scores = {one.number: one.score for one in before}
    for one in after:
        assert one.score == pytest.approx(scores[one.number], abs=1e-9)
    for first, second in pairwise(after):
        assert scores[first.number] >= scores[second.number] - 1e-9


@given(_candidates(least=1), st.data())
def test_a_further_reason_never_lowers_a_candidate(candidates: list[SearchCandidate], data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(candidates) - 1))
    one = candidates[at]
    better = data.draw(
        st.sampled_from(
            [
                one._replace(named=True),
                one._replace(named=True, own=True),
                one._replace(when=1.0),
                one._replace(assistant=False),
                one._replace(importance=1.0),
                one._replace(echo=0.0),
                one._replace(distrust=0),
                one._replace(told=None if one.told is None else one.told + 10),
            ]
        )
    )
    # Its name counts only once it is spoken of.
    assume(one.named or not one.own or better.named)
    before = _ranked(candidates)
    after = _ranked([*candidates[:at], better, *candidates[at + 1 :]])
    assert _order(after).index(one.number) <= _order(before).index(one.number)
    scores = {ranked.number: ranked.score for ranked in before}
    assert next(ranked.score for ranked in after if ranked.number == one.number) >= scores[one.number]


@given(_candidates())
def test_the_reasons_are_what_was_added(candidates: list[SearchCandidate]) -> None:
    plain = [_plain(one.number, one.cosine, one.bm25)._replace(turn=one.turn) for one in candidates]
    base = {one.number: one.score for one in _ranked(plain)}
    for one in _ranked(candidates):
        assert all(value for _, value in one.added)
        assert one.score == pytest.approx(base[one.number] + sum(value for _, value in one.added))


_CONTEXT = {"before", "reply", "after", "session"}
_PLACES = st.builds(
    TurnPlace,
    st.sampled_from(["ses_1", "ses_2"]),
    st.integers(1, 16),
    st.sampled_from(["Ann", "Ben"]),
    st.booleans(),
)


@st.composite
def _dialogues(draw: st.DrawFn) -> tuple[list[FusedScore], dict[int, TurnPlace]]:
    """A ranking, with the places of some of its candidates; several chunks may have one place."""
    ranked = _ranked(draw(_candidates(most=16)))
    places = {one.number: draw(st.none() | _PLACES) for one in ranked}
    return ranked, {number: place for number, place in places.items() if place}


def _strongest(ranked: list[FusedScore], places: dict[int, TurnPlace], of: TurnPlace, steps: range) -> dict[int, float]:
    """The strength of the best match at each of these distances from a turn, in its session."""
    found: dict[int, float] = {}
    for one in ranked:
        place = places.get(one.number)
        if place and place.session == of.session and (step := place.position - of.position) in steps and step:
            found[step] = max(found.get(step, 0.0), one.strength)
    return found


@given(_dialogues())
def test_a_turn_gains_from_the_best_matches_before_it_after_it_and_elsewhere_in_its_session(
    dialogue: tuple[list[FusedScore], dict[int, TurnPlace]],
) -> None:
    ranked, places = dialogue
    old = {one.number: one for one in ranked}
    boosted = boost_by_context(ranked, places)
    assert boosted == sorted(boosted, key=lambda one: (-one.score, -one.number))
    assert sorted(_order(boosted)) == sorted(old)
    for one in boosted:
        gains = {name: value for name, value in one.added if name in _CONTEXT}
        assert all(value > 0 for value in gains.values())
        assert one.strength == old[one.number].strength
        assert one.added[: len(old[one.number].added)] == old[one.number].added
        assert one.score == pytest.approx(old[one.number].score + sum(gains.values()))
        place = places.get(one.number)
        if place is None or len({two.author for two in places.values() if two.session == place.session}) < 2:
            assert not gains
            continue
        before = _strongest(ranked, places, place, range(-BEFORE_TURNS, 0))
        after = _strongest(ranked, places, place, range(1, AFTER_TURNS + 1))
        session = _strongest(ranked, places, place, range(-20, 21))
        decayed = [value * BEFORE_DECAY ** (-step - 1) for step, value in before.items()]
        assert gains.get("before", 0.0) == pytest.approx(BEFORE_WEIGHT * max(decayed, default=0.0))
        asking = [
            two
            for two in places.values()
            if (two.session, two.position) == (place.session, place.position - 1) and two.asks
        ]
        if len({two.author for two in asking}) <= 1:
            # A turn has one author.
            reply = before.get(-1, 0.0) if any(two.author != place.author for two in asking) else 0.0
            assert gains.get("reply", 0.0) == pytest.approx(REPLY_WEIGHT * reply)
        assert gains.get("after", 0.0) == pytest.approx(AFTER_WEIGHT * max(after.values(), default=0.0))
        assert gains.get("session", 0.0) == pytest.approx(SESSION_WEIGHT * max(session.values(), default=0.0))


@given(_dialogues(), st.randoms(use_true_random=False))
def test_what_a_turn_gains_does_not_depend_on_the_order_of_arrival(
    dialogue: tuple[list[FusedScore], dict[int, TurnPlace]], chance: random.Random
) -> None:
    ranked, places = dialogue
    arrived, placed = ranked.copy(), list(places.items())
    chance.shuffle(arrived)
    chance.shuffle(placed)
    assert boost_by_context(arrived, dict(placed)) == boost_by_context(ranked, places)


def _calls(places: dict[int, TurnPlace]) -> int:
    """How many functions are called to give these turns what they gain."""
    called = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal called
        called += event in {"call", "c_call"}

    ranked = _ranked([_plain(number, None, number % 7) for number in places])
    sys.setprofile(count)
    try:
        boost_by_context(ranked, places)
    finally:
        sys.setprofile(None)
    return called


def _dialogue(turns: int) -> dict[int, TurnPlace]:
    return {number: TurnPlace("ses_1", number, f"P{number % 2}") for number in range(turns)}


def test_the_work_for_a_long_dialogue_grows_with_its_length_alone() -> None:
    assert _calls(_dialogue(2_000)) < 12 * _calls(_dialogue(200))


def test_turns_that_are_alone_in_their_sessions_take_a_quarter_of_the_work_at_the_most() -> None:
    alone = {number: TurnPlace(f"ses_{number}", 1, "Ann") for number in range(200)}
    assert _calls(alone) < _calls(_dialogue(200)) / 4


@given(_candidates(least=1))
def test_the_bases_of_a_pool_are_those_of_its_turns_to_the_last_digit(candidates: list[SearchCandidate]) -> None:
    scale = measure_scale(
        [one.cosine for one in candidates if one.cosine is not None], [one.bm25 for one in candidates]
    )
    assert scale.bases([(one.cosine, one.bm25) for one in candidates]) == [
        scale.base(one.cosine, one.bm25, turn=True) for one in candidates
    ]


def test_a_turn_of_average_length_has_no_reason_for_its_length() -> None:
    (fused,) = _ranked([SearchCandidate(number=1, cosine=None, bm25=1.0, turn=True, told=TOLD_NEUTRAL)])
    assert fused.added == ()


def test_nothing_and_one_are_fine() -> None:
    assert _ranked([]) == []
    assert _order(_ranked([_plain(7, None, 0.0)])) == [7]
    assert _ranked([_plain(7, 0.5, 3.0)])[0].score == 0
    assert _order(_ranked([_plain(1, 0.5, 3.0), _plain(2, 0.5, 3.0)])) == [2, 1]
    assert boost_by_context([], {}) == []


def test_one_shared_word_in_a_vault_of_other_words_does_not_decide_alone() -> None:
    # Of eighty memories one shares a word with the question, and another one means what it asks for.
    others = [SearchCandidate(number, 0.5 + 0.001 * (number % 7), 0.0) for number in range(3, 81)]
    shares, means = SearchCandidate(1, 0.51, 3.7), SearchCandidate(2, 0.6, 0.0)
    ranked, _ = fuse_scores([shares, means, *others])
    assert [one.number for one in ranked[:2]] == [2, 1]
    # Without vectors the words are all there is.
    ranked, _ = fuse_scores([one._replace(cosine=None) for one in (shares, means, *others)])
    assert ranked[0].number == 1


def test_words_alone_tell_the_best_of_several_written_texts() -> None:
    found = [SearchCandidate(number, None, score) for number, score in ((1, 9.0), (2, 8.0))]
    ranked, _ = fuse_scores([*found, *(SearchCandidate(number, None, 0.0) for number in range(3, 81))])
    assert [one.number for one in ranked[:2]] == [1, 2]
