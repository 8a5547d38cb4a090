"""A summary folds in what is new and old enough."""

import pytest

from recollectum.context.window import to_summarise
from recollectum.distil.summary import extract_summary
from recollectum.domain.message import Message
from recollectum.domain.session import Summary
from recollectum.text.tokens import counter_for
from tests.context.histories import history, message

COUNTER = counter_for(None)
LONG = "word " * 400


def said(*texts: str) -> list[Message]:
    return [message(number, text[0], text[2:]) for number, text in enumerate(texts, start=1)]


@pytest.mark.feature("P5")
def test_the_last_ten_messages_are_not_folded_in() -> None:
    assert [one.position for one in to_summarise(history("ua" * 10))] == list(range(1, 11))
    assert to_summarise(history("ua" * 5)) == ()


def test_only_what_the_last_summary_did_not_cover_is_folded_in() -> None:
    assert [one.position for one in to_summarise(history("ua" * 10), covered_to=7)] == [8, 9, 10]
    assert to_summarise(history("ua" * 10), covered_to=10) == ()


def test_the_border_does_not_cut_between_a_call_and_its_result() -> None:
    assert [one.position for one in to_summarise(history("uucrrr" + "ua" * 4))] == [1, 2]


def test_the_telling_sentences_are_kept_in_their_order() -> None:
    made = extract_summary(
        said(
            "u Hello there. My name is Ada and I moved to Lyon on 2026-03-01. What do you think?",
            "a That is wonderful to hear, thanks for telling me.",
            "u ok",
            "u We decided to fly with Grace on Friday.",
        ),
        50,
        COUNTER,
    )
    assert made.text.splitlines() == [
        "user: My name is Ada and I moved to Lyon on 2026-03-01.",
        "user: We decided to fly with Grace on Friday.",
    ]
    assert (made.up_to, made.by) == (4, "rules")


def test_a_summary_grows_from_the_one_before() -> None:
    before = Summary(text="user: I am allergic to nuts.", up_to=4, by="rules")
    made = extract_summary(said("u I like the sea."), 100, COUNTER, previous=before)
    assert made.text.splitlines() == ["user: I am allergic to nuts.", "user: I like the sea."]
    assert extract_summary([], 100, COUNTER, previous=before) == before


@pytest.mark.parametrize("tokens", [0, 1, 10, 50, 300])
def test_a_summary_keeps_its_budget(tokens: int) -> None:
    made = extract_summary(history("uacr" * 50, "I will need 3 of them by Friday, said Grace."), tokens, COUNTER)
    assert COUNTER.count(made.text) <= tokens
    assert made == extract_summary(
        history("uacr" * 50, "I will need 3 of them by Friday, said Grace."), tokens, COUNTER
    )


def test_a_paste_without_an_end_is_cut() -> None:
    made = extract_summary(said("u " + "x" * 100_000), 2000, COUNTER)
    assert len(made.text) < 500
