"""A lasting request to the assistant is found by rules, and a request for one answer is not."""

import pytest

from recollectum.distil.pipeline import distil
from recollectum.domain.memory import Kind
from tests.distil.said import said

LASTING = [
    "Always cite your sources.",
    "Please always answer in French.",
    "From now on, use metric units.",
    "From now on please use metric units.",
    "Never call me Bob.",
    "Don't ever use emojis.",
    "Please don't use tables unless I ask for them.",
    "Whenever I ask for code, give me Python.",
    "Correct my mistakes whenever I write Portuguese.",
    "Could you always add the page number?",
    "I want you to always be brief.",
    "Give me weights in kilos, not pounds, always.",
    "In future, stop apologising.",
]

PASSING = [
    "Use metric units.",
    "Please answer in French.",
    "Don't use tables.",
    "Never mind.",
    "Never say never.",
    "Always look on the bright side.",
    "My mum says always wear a hat.",
    '"Always use a helmet" is his motto.',
    "Always use a helmet, my dad told us.",
    "Can you always see the moon from Oslo?",
    "You should never give up.",
    "Never give up!",
    "Do you always answer so fast?",
    "For now, always answer in French.",
    "> Always cite your sources.",
    "Always use the password: hunter2.",
]


@pytest.mark.parametrize("text", LASTING)
def test_a_lasting_request_is_a_correction(text: str) -> None:
    (one,) = distil(said(f"u: {text}"), (), model=None).findings
    assert (one.content, one.kind, one.certain) == (text, Kind.CORRECTION, False)


@pytest.mark.parametrize("text", PASSING)
def test_any_other_request_is_not(text: str) -> None:
    assert distil(said(f"u: {text}"), (), model=None).findings == ()


def test_the_reason_for_a_request_is_a_statement_beside_it() -> None:
    found = distil(said("u: Hi! Always answer in French, I live in Lyon."), (), model=None).findings
    assert [(one.content, one.kind) for one in found] == [
        ("Always answer in French", Kind.CORRECTION),
        ("I live in Lyon.", Kind.FACT),
    ]


def test_only_the_person_can_ask_for_it() -> None:
    assert distil(said("a: Always cite your sources.", "t: Never call me Bob."), (), model=None).findings == ()
