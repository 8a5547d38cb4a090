"""Laws of the order by time: nothing is lost, only competitors move, and the order of each question is total."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.recall.recency import AskedWords, DatedStatement, TimeOrder, order_by_recency

pytestmark = [pytest.mark.process, pytest.mark.slow]

_WORDS = st.lists(st.sampled_from("abcdefgh"), max_size=6).map(tuple)
_ASKED = st.frozensets(st.sampled_from("abcd"), max_size=3)
_ORDERS = st.sampled_from(TimeOrder)


@st.composite
def _statements(draw: st.DrawFn, most: int = 10) -> tuple[list[DatedStatement], AskedWords]:
    asked = draw(_ASKED)
    names = draw(st.frozensets(st.sampled_from(sorted(asked)))) if asked else frozenset[str]()
    numbers = draw(st.lists(st.integers(1, 100), max_size=most, unique=True))
    nearness = st.none() | st.floats(-2, 2)
    statements = [
        DatedStatement(
            number, number, number, words, asked.intersection(words), 0.0, draw(nearness), draw(st.booleans())
        )
        for number in numbers
        for words in [draw(_WORDS)]
    ]
    return statements, AskedWords(asked, names)


@given(_statements(), _ORDERS)
@pytest.mark.feature("G11")
def test_nothing_is_lost_or_added(given_: tuple[list[DatedStatement], AskedWords], order: TimeOrder) -> None:
    statements, asked = given_
    assert sorted(order_by_recency(statements, asked, order)) == sorted(one.number for one in statements)


@given(_statements())
def test_statements_move_only_where_two_of_them_compete(given_: tuple[list[DatedStatement], AskedWords]) -> None:
    statements, asked = given_
    order = order_by_recency(statements, asked)
    for place, (one, number) in enumerate(zip(statements, order, strict=True)):
        pairs = [([other, one], -1) for other in statements[:place]] + [
            ([one, other], 1) for other in statements[place + 1 :]
        ]
        moved = any(
            order_by_recency([first._replace(updated=0), second._replace(updated=1)], asked)[0] == second.number
            for (first, second), _ in pairs
        )
        assert number == one.number or moved


@given(_statements())
def test_of_statements_that_all_say_the_same_thing_the_order_is_by_time(
    given_: tuple[list[DatedStatement], AskedWords],
) -> None:
    statements, _ = given_
    same = [one._replace(words=("a", "b"), asked=frozenset("a"), nearness=None) for one in statements]
    asked = AskedWords(frozenset("a"), frozenset())
    newest_first = sorted((one.number for one in same), reverse=True)
    assert order_by_recency(same, asked) == newest_first
    assert order_by_recency(same, asked, TimeOrder.OLDEST) == newest_first[::-1]
    assert order_by_recency(same, asked, TimeOrder.EARLIER) == newest_first[1:] + newest_first[:1]
    assert order_by_recency(same, asked, TimeOrder.UNKNOWN) == [one.number for one in same]


@given(_statements(2))
def test_settling_a_pair_again_changes_nothing(given_: tuple[list[DatedStatement], AskedWords]) -> None:
    statements, asked = given_
    # Which of two is better decides whether the other is near enough, so both get one cosine.
    level = [one._replace(nearness=0.0) for one in statements]
    once = order_by_recency(level, asked)
    by_number = {one.number: one for one in level}
    assert order_by_recency([by_number[number] for number in once], asked) == once


def test_newer_is_what_was_said_later_and_not_what_was_brought_in_later() -> None:
    said_first = DatedStatement(2, 10, 10, ("a", "b", "c"), frozenset("a"))
    said_last = DatedStatement(1, 20, 20, ("a", "b", "x"), frozenset("a"))
    assert order_by_recency([said_first, said_last], AskedWords(frozenset("a"), frozenset())) == [1, 2]
