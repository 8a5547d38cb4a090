"""Events in questions: what stands after before, after, since and during."""

import pytest

from recollectum.text.time.event_references import event_references


@pytest.mark.parametrize(
    ("text", "words", "direction"),
    [
        ("What did I eat before the trip?", "the trip", "before"),
        ("After we moved to Berlin, who called?", "we moved to Berlin", "after"),
        ("How was it since the accident and now?", "the accident", "after"),
        ("until Bob's wedding.", "Bob's wedding", "before"),
        ("prior  to her first day what was said", "her first day", "before"),
        ("What did she find during her walk?", "her walk", "in"),
    ],
)
def test_an_event_is_found_with_its_side(text: str, words: str, direction: str) -> None:
    (found,) = event_references(text)
    assert (found.words, found.direction) == (words, direction)
    assert text[slice(*found.span)] == words


@pytest.mark.parametrize(
    "text",
    ["before 2021", "since last week", "after the 3rd of June", "since then", "after all", "after two weeks", "before"],
)
def test_dates_and_pointers_are_no_events(text: str) -> None:
    assert event_references(text) == ()
