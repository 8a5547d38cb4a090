"""Questions for a time or a number are recognised, and so are the texts that have one."""

import pytest

from recollectum.text.answer_kinds import AnswerKind, asked_kind, has_kind


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("When did Ann adopt the puppy?", AnswerKind.TIME),
        ("Which month was the trip in?", AnswerKind.TIME),
        ("Wann war Ann in Rom?", AnswerKind.TIME),
        ("アンはいつ引っ越しましたか", AnswerKind.TIME),
        ("How many siblings does Ann have?", AnswerKind.NUMBER),
        ("Wie viele Katzen hat Ann?", AnswerKind.NUMBER),
        ("What did Ann say when she came home?", None),
        ("How does Ann like Rome?", None),
        ("", None),
    ],
)
def test_a_question_says_which_kind_of_answer_it_wants(question: str, kind: AnswerKind | None) -> None:
    assert asked_kind(question) is kind


@pytest.mark.parametrize(
    ("text", "time", "number"),
    [
        ("we met last week", True, False),
        ("It was on Monday, I think.", True, False),
        ("in 2019", True, True),
        ("at 7:30", True, True),
        ("gestern, in Rom", True, False),
        ("I have three cats", False, True),
        ("one of my cats", False, False),
        ("both are black", False, True),
        ("the cat is black", False, False),
        ("", False, False),
    ],
)
def test_a_text_has_a_time_or_a_number(text: str, *, time: bool, number: bool) -> None:
    assert has_kind(text, AnswerKind.TIME) is time
    assert has_kind(text, AnswerKind.NUMBER) is number
