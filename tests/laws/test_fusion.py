"""Laws of the ranking: a better reason never ranks lower, the order is whole, and neighbours only draw their own."""

from itertools import pairwise

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from recollectum.recall.scoring import (
    NEIGHBOUR_WEIGHT,
    FusedScore,
    SearchCandidate,
    boost_by_neighbours,
    fuse_scores,
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


@given(_candidates(), st.data())
def test_a_turn_gains_from_its_neighbours_what_the_arms_think_of_them(
    candidates: list[SearchCandidate], data: st.DataObject
) -> None:
    ranked, scale = fuse_scores(candidates)
    base = {one.number: one.base for one in ranked} | {2000: scale.base(None, 0.0, turn=True)}
    beside = {one.number: data.draw(st.lists(st.sampled_from([*base, 3000]), max_size=2)) for one in ranked}
    drawn = boost_by_neighbours(ranked, beside, base)
    assert drawn == sorted(drawn, key=lambda one: (-one.score, -one.number))
    before = {one.number: one for one in ranked}
    for one in drawn:
        gain = NEIGHBOUR_WEIGHT * sum(base.get(number, 0.0) for number in beside[one.number])
        assert one.score == pytest.approx(before[one.number].score + gain)
        assert dict(one.added).get("near", 0.0) == pytest.approx(gain)


def test_nothing_and_one_are_fine() -> None:
    assert _ranked([]) == []
    assert _order(_ranked([_plain(7, None, 0.0)])) == [7]
    assert _ranked([_plain(7, 0.5, 3.0)])[0].score == 0
    assert _order(_ranked([_plain(1, 0.5, 3.0), _plain(2, 0.5, 3.0)])) == [2, 1]
    assert boost_by_neighbours([], {}, {}) == []
