"""Which lines ask, and which tell."""

import pytest

from recollectum.doors.cli.chat.rule_answers import is_question, is_statement


@pytest.mark.parametrize(
    "text",
    [
        "Where do I live?",
        "what's my name",
        "Tell me a joke",
        "Grace?",
        "Wo wohne ich",
        "remind me of Tom",
        "how old am I",
    ],
)
def test_questions(text: str) -> None:
    assert is_question(text)


@pytest.mark.parametrize(
    "text",
    ["I live in Oslo.", "my dog is called Rex", "Grace moved to Lyon.", "Ich wohne in Bonn", "We fly on Friday!"],
)
def test_statements(text: str) -> None:
    assert is_statement(text)
    assert not is_question(text)


@pytest.mark.parametrize("text", ["Grace", "trip to Lyon", "tea.", "", "?"])
def test_what_is_no_statement(text: str) -> None:
    assert not is_statement(text)
