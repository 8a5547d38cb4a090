"""A sentence is read clause by clause: a doubt, a question or a quotation beside a statement does not hide it."""

import pytest

from recollectum.distil.pipeline import distil
from recollectum.domain.memory import Kind
from tests.distil.said import said

F, P = Kind.FACT, Kind.PREFERENCE

CLAIMED = [
    (
        "My wife is allergic to crab and I don't eat pork.",
        [("My wife is allergic to crab", F), ("I don't eat pork.", P)],
    ),
    ("My favourite singer is Nina Simone, she could do anything.", [("My favourite singer is Nina Simone", P)]),
    ("I'm coeliac, so what can I eat in Naples?", [("I'm coeliac", F)]),
    ("I live in Oslo, which tax do I pay?", [("I live in Oslo", F)]),
    ("I'm vegan, any tips for Lyon?", [("I'm vegan", F)]),
    ("I live with two flatmates, Ann and Bob.", [("I live with two flatmates, Ann and Bob.", F)]),
    ("My sister is a vet, and she lives in Bath.", [("My sister is a vet, and she lives in Bath.", F)]),
    ("My wife and I live in Oslo.", [("I live in Oslo.", F)]),
    ("I mean, I hate early trains.", [("I hate early trains.", P)]),
    ("I go by Maja, the passport says Marianne.", [("I go by Maja, the passport says Marianne.", F)]),
    ("I play chess, if that helps.", [("I play chess", F)]),
]

NOT_CLAIMED = [
    "If I live in Oslo, I work in Norway.",
    "When I was young, I played tennis on Sundays.",
    "She said I live in Oslo, and I work at Shell.",
    'He wrote "well, I love tea", and left.',
    'And then "wait, I live in Oslo, too" came from the back.',
    "I love tea, she said.",
    "I love tea, says my mum.",
    "I live in Oslo, right?",
    "I live in Oslo, don't I?",
    "I live in Oslo, is that right?",
    "I don't drink tea, do I?",
    "I love rain, just kidding.",
    "I work at Shell, I think.",
    "I work at Shell, or so I hear.",
]

HABITS = [
    "I swim every morning before work.",
    "I go to the gym on Tuesdays and Saturdays.",
    "We rehearse on Wednesdays.",
    "I get migraines about twice a month.",
    "I drink about five coffees a day.",
    "I row competitively, four times a week.",
]

NO_HABITS = [
    "I get an error every day.",
    "I get this message every morning.",
    "I need a break every week.",
    "I walked to school every day.",
    "I went there twice a month.",
    "I will call you every day.",
    "I want it every day.",
]


@pytest.mark.parametrize(("text", "expected"), CLAIMED)
def test_each_clause_that_is_claimed_is_a_statement(text: str, expected: list[tuple[str, Kind]]) -> None:
    talk = said(f"u: {text}")
    found = distil(talk, (), model=None).findings
    assert [(one.content, one.kind) for one in found] == expected
    spans = [span for one in found for span in one.spans]
    assert [talk[0].text[span.start : span.end] for span in spans] == [content for content, _ in expected]


@pytest.mark.parametrize("text", NOT_CLAIMED)
def test_a_clause_under_a_condition_a_report_or_a_doubt_is_none(text: str) -> None:
    assert distil(said(f"u: {text}"), (), model=None).findings == ()


@pytest.mark.parametrize("text", HABITS)
def test_what_somebody_does_regularly_is_a_fact(text: str) -> None:
    assert [(one.content, one.kind) for one in distil(said(f"u: {text}"), (), model=None).findings] == [(text, F)]


@pytest.mark.parametrize("text", NO_HABITS)
def test_trouble_and_the_past_are_no_habits(text: str) -> None:
    assert distil(said(f"u: {text}"), (), model=None).findings == ()
