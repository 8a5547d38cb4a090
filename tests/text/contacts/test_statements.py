"""What a text says about people and their addresses, and what it must not be taken to say."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.text.contacts import hints
from recollectum.text.contacts.hints import LONGEST, may_mention
from recollectum.text.contacts.statements import find_mentions

PHONE = "+49 151 2345678"
NUMBER = "+491512345678"


def said(text: str, key: str | None = None) -> list[tuple[str, str, str]]:
    """Each mention as names, relations and addresses; what is over has a minus before it."""
    return [
        (
            "/".join(one.names),
            ("-" if one.relations_over and one.relations else "") + "/".join(one.relations),
            " ".join(
                ("-" if one.addresses_over else "") + f"{at.label}{':' if at.label else ''}{at.value}"
                for at in one.addresses
            ),
        )
        for one in find_mentions(text, key)
    ]


@pytest.mark.feature("A13")
@pytest.mark.parametrize(
    ("text", "names", "relations", "addresses"),
    [
        ("Anna is my girlfriend", "Anna", "girlfriend", ""),
        ("anna is my girlfriend.", "anna", "girlfriend", ""),
        ("Anna is my new girlfriend, since May", "Anna", "girlfriend", ""),
        ("Anna is our neighbor", "Anna", "neighbour", ""),
        ("Zoë Müller is my dentist", "Zoë Müller", "dentist", ""),
        ("Dr. Smith is my GP", "Smith", "doctor", ""),
        ("Ludwig van Beethoven is my teacher", "Ludwig van Beethoven", "teacher", ""),
        ("Sinéad O'Connor is my mum", "Sinéad O'Connor", "mother", ""),
        ("Will is my brother", "Will", "brother", ""),
        ("Anna is the user's fiancée", "Anna", "fiancé", ""),
        ("The user's girlfriend is Anna", "Anna", "girlfriend", ""),
        ("My girlfriend is called Anna", "Anna", "girlfriend", ""),
        ("My boss's name is Jo Miller", "Jo Miller", "boss", ""),
        ("I have a sister named Eva", "Eva", "sister", ""),
        ("I live with my girlfriend Anna", "Anna", "girlfriend", ""),
        ("My girlfriend Anna likes tea", "Anna", "girlfriend", ""),
        ("Anna, my girlfriend, likes tea", "Anna", "girlfriend", ""),
        ("Anna is my sister and my dentist", "Anna", "sister/dentist", ""),
        ("Anna (Annie) is my girlfriend", "Anna/Annie", "girlfriend", ""),
        ("Мария is my mother", "Мария", "mother", ""),
        (f"Anna's number is {PHONE}", "Anna", "", NUMBER),
        (f"Anna\u2019s mobile number is now {PHONE}.", "Anna", "", NUMBER),
        (f"anna's phone: {PHONE}", "anna", "", NUMBER),
        ("Anna's number is +49 (0) 151 2345678", "Anna", "", NUMBER),
        ("Anna's number is 0049-151-2345678", "Anna", "", NUMBER),
        ("Anna's number is 0151/2345678", "Anna", "", "01512345678"),
        ("Anna's number is (555) 123-4567", "Anna", "", "5551234567"),
        (f"Anna's work number is {PHONE}", "Anna", "", f"work:{NUMBER}"),
        ("Anna's e-mail is Anna.Berg@X.org.", "Anna", "", "anna.berg@x.org"),
        ("Anna's Telegram is @anna_b", "Anna", "", "telegram:@anna_b"),
        ("Anna is @anna_b on Telegram", "Anna", "", "telegram:@anna_b"),
        ("my boss Jo: jo@x.org", "Jo", "boss", "jo@x.org"),
        (f"Jo, my boss: {PHONE}", "Jo", "boss", NUMBER),
        (f"My girlfriend's number is {PHONE}", "", "girlfriend", NUMBER),
        (f"My girlfriend Anna's number is {PHONE}", "Anna", "girlfriend", NUMBER),
        (f"Anna: {PHONE}, anna@x.org", "Anna", "", f"{NUMBER} anna@x.org"),
        (f"Anna Berg {PHONE}", "Anna Berg", "", NUMBER),
        (f"Mum ({PHONE})", "Mum", "", NUMBER),
        (f"The number of my mother is {PHONE}", "", "mother", NUMBER),
        (f"Anna can be reached at {PHONE}", "Anna", "", NUMBER),
        (f"Call Anna at {PHONE}", "Anna", "", NUMBER),
        (f"{PHONE} is Anna's number", "Anna", "", NUMBER),
        (f"{PHONE} belongs to my landlord", "", "landlord", NUMBER),
        (f"Anna has a new number: {PHONE}", "Anna", "", NUMBER),
        (f"Anna changed her number to {PHONE}", "Anna", "", NUMBER),
        (
            f"Anna is my girlfriend, her number is {PHONE} and her email is a@x.org",
            "Anna",
            "girlfriend",
            f"{NUMBER} a@x.org",
        ),
        (f"Remember that Anna's number is {PHONE}", "Anna", "", NUMBER),
        (f"Anna's number is {PHONE}, she was born in 1990", "Anna", "", NUMBER),
        ("Anna's nickname is Annie", "Anna/Annie", "", ""),
        ("I call Anna Annie", "Anna/Annie", "", ""),
        ("Anna goes by Annie", "Anna/Annie", "", ""),
        ("Annie is short for Anna", "Anna/Annie", "", ""),
        ("I call my mother Mami", "Mami", "mother", ""),
        ("Anna was my girlfriend", "Anna", "-girlfriend", ""),
        ("Anna is no longer my girlfriend", "Anna", "-girlfriend", ""),
        ("Anna is my ex-girlfriend", "Anna", "-girlfriend", ""),
        (f"My former boss Jo: {PHONE}", "Jo", "-boss", f"-{NUMBER}"),
        (f"Anna's old number is {PHONE}", "Anna", "", f"-{NUMBER}"),
        (f"Anna's number is {PHONE}, but it no longer works", "Anna", "", f"-{NUMBER}"),
        (f"Anna's number was {PHONE}", "Anna", "", f"-{NUMBER}"),
    ],
)
def test_what_is_said(text: str, names: str, relations: str, addresses: str) -> None:
    assert said(text) == [(names, relations, addresses)]


@pytest.mark.feature("A13")
@pytest.mark.parametrize(
    "text",
    [
        "",
        "I like tea",
        f"My number is {PHONE}",
        f"Call {PHONE}",
        f"Call me at {PHONE}",
        f"She is my girlfriend: {PHONE}",
        f"Anna's mother's number is {PHONE}",
        f"My girlfriend's mother Eva: {PHONE}",
        "Anna is my girlfriend's sister",
        f"Bob says Anna's number is {PHONE}",
        f"I think Anna's number is {PHONE}",
        f"Anna's number might be {PHONE}",
        f"Maybe Anna's number is {PHONE}",
        f"Anna's number is {PHONE}, I guess",
        f"Is Anna's number {PHONE}?",
        f"Anna's number is {PHONE}?",
        f"Anna's number is {PHONE} or +49 151 2345679",
        f"Anna's number is {PHONE}. That one is wrong.",
        f"Anna's number is {PHONE}. Do not use it.",
        f"Anna's number is {PHONE}. Maybe that is an old one.",
        f"Anna's number is {PHONE}. I am not sure.",
        f"If Anna's number is {PHONE}, call her",
        f"My ex-girlfriend's number is {PHONE}",
        f"Tom and Anna: {PHONE}",
        f"Anna, Bob: {PHONE}",
        f"Anna lives in Berlin, {PHONE}",
        "Anna's ID number is 12345678",
        "Anna's room number is 1234567",
        "Anna's number is 42",
        "Anna's number is 1234 5678 9012 3456",
        "Anna: 2026-03-01",
        "Anna: 01.02.2026",
        "Anna's number is 192.168.100.200",
        "Anna: 12345678",
        "My boss is German",
        "My girlfriend is vegetarian",
        "Today is my girlfriend's birthday",
        "I told my boss Anna is ill",
        f"Support: {PHONE}",
        f"Work: {PHONE}",
        f"Ask Anna: {PHONE}",
        f"Anna's number is {PHONE} ext 5",
    ],
)
def test_what_is_not_said(text: str) -> None:
    assert said(text) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Anna and Bea are my sisters", [("Anna", "sister", ""), ("Bea", "sister", "")]),
        ("My sisters are Anna, Bea and Cleo", [(name, "sister", "") for name in ("Anna", "Bea", "Cleo")]),
        (f"Anna: {PHONE}, Bob: bob@x.org", [("Anna", "", NUMBER), ("Bob", "", "bob@x.org")]),
        (f"Anna: {PHONE}\nBob: bob@x.org", [("Anna", "", NUMBER), ("Bob", "", "bob@x.org")]),
        (f"Anna is my girlfriend. Her number is {PHONE}.", [("Anna", "girlfriend", ""), ("Anna", "", NUMBER)]),
        (f"Anna is my girlfriend. Eva came. Her number is {PHONE}.", [("Anna", "girlfriend", "")]),
        (f"Anna is my sister and Bea is my boss, her number is {PHONE}", [("Anna", "sister", ""), ("Bea", "boss", "")]),
        (f"Anna is my sister. Bea is my boss. Her number is {PHONE}", [
            ("Anna", "sister", ""), ("Bea", "boss", ""), ("Bea", "", NUMBER)]),
    ],
)  # fmt: skip
def test_what_is_said_of_several(text: str, found: list[tuple[str, str, str]]) -> None:
    assert said(text) == found


@pytest.mark.parametrize(
    ("key", "text", "found"),
    [
        ("contact_anna", PHONE, [("Anna", "", NUMBER)]),
        ("contact_anna_berg", f"phone: {PHONE}, e-mail: a@x.org", [("Anna Berg", "", f"{NUMBER} a@x.org")]),
        ("contact_mum", PHONE, [("", "mother", NUMBER)]),
        ("girlfriend_phone", PHONE, [("", "girlfriend", NUMBER)]),
        ("anna_email", "a@x.org", [("Anna", "", "a@x.org")]),
        ("contact_anna", f"Anna's number is {PHONE}", [("Anna", "", NUMBER)]),
        ("contact_anna", f"her brother's is {PHONE}", []),
        ("user_phone", PHONE, []),
        ("work_email", "a@x.org", []),
        ("city", PHONE, []),
        (None, PHONE, []),
    ],
)
def test_what_a_key_says(key: str | None, text: str, found: list[tuple[str, str, str]]) -> None:
    assert said(text, key) == found


def test_a_document_is_no_statement() -> None:
    text = f"Anna's number is {PHONE}. "
    assert said(text)
    assert not said(text + "x" * LONGEST)


@pytest.mark.parametrize("part", ["1 ", "+1", "(1)", "A ", "A, ", "Ab and ", "@a", "a@a.", "my new ", "1.1.1.", "A'bc"])
def test_no_text_takes_long(part: str) -> None:
    begun = process_time()
    find_mentions(f"My boss is {part * 1000}"[:LONGEST])
    find_mentions(f"{part * 1000} my"[:LONGEST])
    assert process_time() - begun < 2


@given(
    st.lists(st.sampled_from([*"0123456789+()-./ a@:\n\u00a0\u2011", "+49", "0049", "00 1"]), max_size=24).map("".join)
)
def test_no_address_is_passed_over_by_the_quick_look(text: str) -> None:
    if hints._address().search(text):  # pyright: ignore[reportPrivateUsage]
        assert may_mention(text)
