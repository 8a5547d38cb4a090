"""The window keeps the newest turns, whole where it can, and no tool call without its result."""

import pytest

from recollectum.context.window import select_window, turn_units
from recollectum.domain.message import Message
from tests.context.histories import history, message


def one(_: Message) -> int:
    return 1


def positions(said: list[Message], **limits: int) -> list[int]:
    return [kept.position for kept in select_window(said, one, **limits).messages]


@pytest.mark.feature("A2")
def test_the_last_thirty_turns_are_replayed_and_no_more() -> None:
    assert positions(history("ua" * 40), max_messages=1000) == list(range(21, 81))


def test_everything_is_there_when_everything_fits() -> None:
    kept = select_window(history("uaua"), one)
    assert (len(kept.messages), kept.start, kept.tokens) == (4, 0, 4)


def test_a_turn_that_does_not_fit_whole_is_left_out() -> None:
    assert positions(history("uaaaaaaaaaa" + "uaaaaaaaaaa"), max_messages=14) == list(range(12, 23))


def test_the_last_ten_messages_stay_even_of_a_turn_that_is_cut() -> None:
    assert positions(history("u" + "a" * 30 + "ua"), max_messages=20) == list(range(24, 34))


def test_a_long_turn_keeps_its_question_and_its_newest_messages() -> None:
    assert positions(history("ua" + "u" + "cr" * 20), max_messages=6) == [3, 40, 41, 42, 43]


def test_tokens_are_a_limit_too() -> None:
    assert positions(history("ua" * 10), tokens=4) == [17, 18, 19, 20]
    assert positions(history("ua" * 10), tokens=13) == list(range(9, 21))
    assert positions(history("ua"), tokens=0) == []


def test_what_is_over_is_not_counted() -> None:
    counted: list[int] = []

    def cost(said: Message) -> int:
        counted.append(said.position)
        return 10

    select_window(history("ua" * 5000), cost, tokens=100)
    assert len(counted) < 30


@pytest.mark.parametrize(
    ("shape", "ranges"),
    [
        ("ua", [(1, 2), (0, 1)]),
        ("ucra", [(3, 4), (1, 3), (0, 1)]),
        ("ucrrra", [(5, 6), (1, 5), (0, 1)]),
        ("uar", [(1, 3), (0, 1)]),
        ("ru", [(1, 2), (0, 1)]),
        ("c", [(0, 1)]),
    ],
)
def test_a_call_and_its_results_are_one_unit(shape: str, ranges: list[tuple[int, int]]) -> None:
    assert list(turn_units(history(shape))) == ranges


def test_a_late_result_holds_everything_since_its_call() -> None:
    said = [
        message(1, "u", "go"),
        message(2, "c", "look", "x"),
        message(3, "u", "wait"),
        message(4, "c", "look", "y"),
        message(5, "r", "y is", "y"),
        message(6, "r", "x is", "x"),
    ]
    assert list(turn_units(said)) == [(1, 6), (0, 1)]


def test_a_result_without_its_call_is_left_out_and_named() -> None:
    kept = select_window([message(1, "r", "from before", "lost"), *history("rua")[1:]], one)
    assert [said.position for said in kept.messages] == [2, 3]
    assert [said.position for said in kept.orphans] == [1]
