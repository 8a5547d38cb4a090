"""A look at many texts at once calls none harmless in which a look at that text alone finds something."""

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.redaction_examples import FORMED, NAMED, examples, ordinary_lines
from recollectum.context.echoes import TAGS, marked_blocks
from recollectum.context.served import BEGINNINGS, may_hold_blocks
from recollectum.text.cleaning import clean
from recollectum.text.contacts.hints import may_mention
from recollectum.text.secrets.command_lines import PROGRAMS
from recollectum.text.secrets.redaction import HINTS, is_plain, redact
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.quick_look import look_at
from recollectum.vault.vault import Vault

_TOKEN = "ghp_A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
_CARD = "4111 1111 1111 1111"
#: What secrets, echoes and contacts are made of, in any case, with the parts of some that a join could put together.
_PIECES = st.sampled_from(
    [
        *HINTS,
        *PROGRAMS,
        *TAGS,
        *BEGINNINGS,
        *(one.upper() for one in HINTS),
        *(
            "my",
            "our",
            "has",
            "sister",
            "user's",
            "aka",
            "goes by",
            "known as",
            "I call",
            "number",
            "@ann",
            "+49 30 1234567",
        ),
        *(_TOKEN, _TOKEN[:20], _TOKEN[20:], _CARD, _CARD[:10], _CARD[10:], "4821", "48", "hunter2!", "pass", "word: "),
        *(
            "is",
            "a boat",
            "Hour",
            "token",
            "tok",
            "en",
            "--",
            "-",
            " -p",
            "://",
            "@",
            "{",
            "}",
            "\0",
            "é",
            "\u212a",
            "\ud800",
        ),
        *" \t\n\r\x0b\x0c\x1c\x1f.,:;'\"`=!?",
    ]
)
_TEXTS = st.lists(st.lists(st.one_of(_PIECES, st.text(max_size=6)), max_size=8).map("".join), max_size=8)
_KEYS = (None, "contact_ann", "ann_phone", "boat")


def _check(texts: list[str]) -> None:
    for text, looked in zip(texts, look_at(texts), strict=True):
        if looked.stays:
            assert is_plain(text)
            assert redact(text).text == text
            assert clean(text) == text
            assert not marked_blocks(text)
            assert not may_hold_blocks(text)
            assert not text.startswith("{")
        if looked.tells_of_nobody:
            assert not any(may_mention(text, key) for key in _KEYS)


@given(_TEXTS)
def test_nothing_is_passed_over_whatever_stands_beside_it(texts: list[str]) -> None:
    _check(texts)


@given(_TEXTS, st.integers(0, 8), st.sampled_from([_TOKEN, _CARD, "password: hunter2!", "my sister", "{"]))
def test_what_is_planted_at_the_edge_of_a_text_is_seen(texts: list[str], at: int, planted: str) -> None:
    # A single text is looked at when it is admitted.
    texts = [*texts, "a boat"]
    for text in (planted, f"{planted} {''.join(texts)}", f"{''.join(texts)} {planted}"):
        several = [*texts[:at], text, *texts[at:]]
        assert look_at(several)[min(at, len(texts))] != (True, True)
        _check(several)


@pytest.mark.parametrize("kind", [*FORMED, *NAMED])
def test_no_example_of_a_secret_is_passed_over_among_others(kind: str) -> None:
    chance = random.Random(kind)
    texts = [text for text, _ in examples(kind, 40)]
    cut = [(text[:place], text[place:]) for text in texts for place in (chance.randrange(len(text)),)]
    _check([*texts, *ordinary_lines(40), *(part for pair in cut for part in pair)])


def test_ordinary_talk_stays_as_it_is() -> None:
    texts = [
        "Grace likes the blue boat; she wants it by Friday.",
        "The flight to Lisbon leaves at 14:35, gate 12.",
        "every hour of yours",
    ]
    assert [tuple(one) for one in look_at(texts)] == [(True, True), (True, False), (True, True)]


def test_many_more_texts_than_are_looked_at_together_keep_their_places() -> None:
    texts = [f"boat {number:05}" if number % 700 == 3 else "a boat" for number in range(2_500)]
    assert [place for place, one in enumerate(look_at(texts)) if not one.stays] == list(range(3, 2_500, 700))


def test_many_at_once_are_redacted_and_told_of_as_one_by_one(vault: Vault) -> None:
    texts = [
        *(
            f"{text} / {number}"
            for number, (text, _) in enumerate(pair for kind in (*FORMED, *NAMED) for pair in examples(kind, 2))
        ),
        *(f"{line} / {number}" for number, line in enumerate(ordinary_lines(60))),
        '{"password": "hunter2!x"}',
        "call my sister at +49 30 1234567",
        "nothing to see",
    ]
    together = vault.memories.save_many([Draft(content=text) for text in texts])
    told = [(one.memory.content, one.notice.replaced) for one in together]
    for one in together:
        vault.memories.forget(one.id)
    apart = [vault.memories.save(f"{text}") for text in texts]
    assert told == [(one.memory.content, one.notice.replaced) for one in apart]
    assert any(replaced for _, replaced in told)
