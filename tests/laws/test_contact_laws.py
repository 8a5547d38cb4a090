"""Laws of contacts: no address from nowhere, no choice between two people, nothing moved by what is unrelated."""

import unicodedata
from datetime import timedelta
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.domain.contact import Outcome
from recollectum.domain.trust import Trust
from recollectum.text.contacts.statements import find_mentions
from recollectum.vault.contacts.linkage import ContactStatement
from recollectum.vault.contacts.service import TRUSTED_LEVELS, resolve_contact
from tests.matrix.homes import START

pytestmark = pytest.mark.slow

NAMES = ("Anna", "Bea", "Anna Berg", "Cleo")
RELATIONS = ("girlfriend", "mother", "boss", "partner", "dentist")
NUMBERS = ("+49 151 0000001", "+49 151 0000002", "a@x.org", "@anna_b")
FORMS = (
    "{name} is my {relation}",
    "{name} was my {relation}",
    "{name}'s number is {number}",
    "My {relation}'s number is {number}",
    "My {relation} {name}: {number}",
    "{name}'s old number is {number}",
    "{name} goes by {other}",
    "{number} belongs to {name}",
)
Memory = tuple[str, Trust, int, int]


def statement(form: str, name: str, other: str, relation: str, number: str) -> str:
    """A form, filled in."""
    return form.format(name=name, other=other, relation=relation, number=number)


def texts() -> st.SearchStrategy[str]:
    """Statements about a few people."""
    others = (*NAMES, "Annie")
    parts = (FORMS, NAMES, others, RELATIONS, NUMBERS)
    return st.tuples(*map(st.sampled_from, parts)).map(lambda part: statement(*part))


def memories(trusts: tuple[Trust, ...] = tuple(Trust)) -> st.SearchStrategy[list[Memory]]:
    """Some memories, each with the days on which it was made and changed."""
    days = st.integers(0, 5)
    return st.lists(st.tuples(texts(), st.sampled_from(trusts), days, days), max_size=8)


QUERIES = st.sampled_from((*NAMES, "Annie", *(f"my {relation}" for relation in RELATIONS), "my girlfriend Anna"))


def told(held: list[Memory], prefix: str = "mem") -> list[ContactStatement]:
    """What the memories say."""
    return [
        ContactStatement(
            mention=mention,
            memory_id=f"{prefix}_{number}",
            trust=trust,
            created_at=START + timedelta(days=made),
            updated_at=START + timedelta(days=made + later),
            since=START + timedelta(days=made),
        )
        for number, (text, trust, made, later) in enumerate(held)
        for mention in find_mentions(text)
    ]


@given(memories(), QUERIES)
def test_a_match_has_only_addresses_that_a_trusted_memory_gives(held: list[Memory], query: str) -> None:
    found = resolve_contact(query, told(held))
    if found.contact is None:
        assert found.outcome is not Outcome.MATCH
        return
    assert found.contact.addresses
    for one in found.contact.addresses:
        text, trust, *_ = held[int(one.memory_id.removeprefix("mem_"))]
        assert one.address.written in text
        assert "old number" not in text
        assert trust in TRUSTED_LEVELS


@given(memories(), st.sampled_from(RELATIONS), st.integers(0, 9), st.integers(0, 9))
def test_nobody_is_chosen_where_two_are_said_to_be_it(held: list[Memory], relation: str, one: int, other: int) -> None:
    # What ends a relation, or makes one person of two names, is another matter.
    kept = [memory for memory in held if " was my " not in memory[0] and " goes by " not in memory[0]]
    claims: list[Memory] = [
        (f"Bea is my {relation}", Trust.OWNER, one, 0),
        (f"Cleo is my {relation}", Trust.ASSISTANT, other, 0),
    ]
    found = resolve_contact(f"my {relation}", told(kept + claims))
    assert found.outcome is Outcome.QUESTION
    assert {"Bea", "Cleo"} <= {somebody.name for somebody in found.candidates}


@given(memories(), QUERIES, st.sampled_from(tuple(Trust)), st.integers(0, 5))
def test_what_is_unrelated_changes_nothing(held: list[Memory], query: str, trust: Trust, day: int) -> None:
    unrelated: list[Memory] = [
        ("Quentin is my accountant", trust, day, 0),
        ("My accountant's number is +49 151 0000009", trust, day, 0),
        ("Anna likes tea and was born in 1990", trust, day, 0),
        ("Quentin goes by Quen", trust, day, 0),
    ]
    assert resolve_contact(query, told(held) + told(unrelated, "other")) == resolve_contact(query, told(held))


@given(memories(), memories((Trust.TOOL, Trust.IMPORTED, Trust.UNKNOWN)), QUERIES)
def test_no_text_from_elsewhere_makes_or_changes_a_match(held: list[Memory], strange: list[Memory], query: str) -> None:
    before, after = resolve_contact(query, told(held)), resolve_contact(query, told(held) + told(strange, "strange"))
    assert after.contact == before.contact


@given(memories(), QUERIES, st.randoms(use_true_random=False))
def test_the_order_of_the_memories_does_not_matter(held: list[Memory], query: str, chance: Random) -> None:
    statements = told(held)
    shuffled = list(statements)
    chance.shuffle(shuffled)
    assert resolve_contact(query, shuffled) == resolve_contact(query, statements)


@given(st.one_of(st.text(max_size=80), st.lists(st.one_of(texts(), st.text(max_size=9)), max_size=4).map(" ".join)))
def test_any_text_is_read_without_inventing_anything(text: str) -> None:
    composed = unicodedata.normalize("NFC", text)
    for mention in find_mentions(text):
        assert all(name in composed for name in mention.names)
        assert all(one.written in composed for one in mention.addresses)
    resolve_contact(text, told([("Anna is my boss", Trust.OWNER, 0, 0)]))
