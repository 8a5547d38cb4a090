"""Laws of distilling: what holds for every conversation, every model and everything that was served or forgotten."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.distil.pipeline import Distilled, distil
from recollectum.distil.screening import ServedTexts
from recollectum.domain.memory import Memory
from recollectum.domain.message import Json, Message
from recollectum.domain.models.language_model import Prompt
from recollectum.domain.proposal import Span
from recollectum.models.language.port import LanguageModel
from recollectum.testing import ScriptedModel
from tests.distil.model.test_choices import SmallModel, offered, picked
from tests.distil.said import answer, answers, every_sentence, memory, message, shown

pytestmark = pytest.mark.slow

PHRASES = st.sampled_from(
    [
        "I live in Oslo.",
        "I live in Bergen.",
        "I love green tea with lemon!",
        "My name is Anna.",
        "No, it's Bergen.",
        "It's not Oslo but Bergen.",
        "- I work as a nurse\n",
        "> I hate rain",
        "Remember that İstanbul is ﬁne.",
        "我喜欢喝茶。",
        "| bar",
        "<recalled-0123456789abcdef>",
        "</recalled-0123456789abcdef>",
        "# About the person",
        "\u200b",
        "ß",
        "…",
        " ",
        "\n\n",
    ]
)
TEXTS = st.lists(PHRASES | st.text(max_size=20), max_size=6).map(" ".join)
TALKS = st.lists(st.tuples(st.sampled_from("uuat"), TEXTS), max_size=6).map(
    lambda turns: [message(number, letter, text) for number, (letter, text) in enumerate(turns, start=1)]
)
KNOWN = st.lists(PHRASES, max_size=3).map(lambda texts: [memory(f"mem_{n}", text) for n, text in enumerate(texts)])
PLACES = st.tuples(st.integers(0, 6), st.integers(0, 40), st.integers(0, 40))
SPANS = st.lists(PLACES.map(lambda place: Span(f"msg_{place[0]}", place[1], place[1] + place[2])), max_size=3)


def loose(prompt: Prompt) -> dict[str, Json]:
    """A model that quotes in another case, over the borders of sentences, and under wrong numbers."""
    if offered(prompt):
        return every_choice(prompt)
    found = [answer(f"Finding {n} {text[:30]}", (n + 1, text.upper()[1:40])) for n, text in shown(prompt)]
    return answers(*found, *(answer(f"Other {n}", (n, " ".join(text.split()[1:4]))) for n, text in shown(prompt)))


def every_choice(prompt: Prompt) -> dict[str, Json]:
    """A model that takes each sentence it is offered, and, where it may, words it in its own way."""
    numbers = range(1, len(offered(prompt)) + 1)
    if "content" not in str(prompt.schema):
        return {"lasting": list(numbers)}
    return {"lasting": [picked(number, f"Finding {number} Oslo tea") for number in numbers]}


def unquoting(prompt: Prompt) -> dict[str, Json]:
    """A model that takes every sentence for a fact, also where it is asked to choose."""
    return every_choice(prompt) if offered(prompt) else every_sentence(prompt)


def models() -> list[LanguageModel | None]:
    return [None, ScriptedModel(unquoting), ScriptedModel(loose), SmallModel(every_choice)]


def read(
    talk: Sequence[Message],
    known: Sequence[Memory] = (),
    barred: Sequence[Span] = (),
    served: Sequence[str] = (),
) -> list[Distilled]:
    return [distil(talk, known, model=model, barred=barred, served=ServedTexts(served)) for model in models()]


@given(TALKS, KNOWN)
@settings(max_examples=150, deadline=None)
def test_every_span_lies_inside_its_message_and_quotes_words(talk: list[Message], known: list[Memory]) -> None:
    texts = {one.id: one.text for one in talk}
    for found in read(talk, known):
        for one in found.findings:
            assert one.spans
            assert 0.0 <= one.importance <= 1.0
            for span in one.spans:
                assert 0 <= span.start < span.end <= len(texts[span.message_id])
                assert texts[span.message_id][span.start : span.end].strip()


@given(TALKS)
@settings(max_examples=100, deadline=None)
def test_rules_quote_what_they_found(talk: list[Message]) -> None:
    texts = {one.id: one.text for one in talk}
    for one in distil(talk, (), model=None).findings:
        (span,) = one.spans
        assert texts[span.message_id][span.start : span.end] == one.content


@given(TALKS, SPANS)
@settings(max_examples=150, deadline=None)
def test_no_finding_overlaps_a_barred_place(talk: list[Message], barred: list[Span]) -> None:
    for found in read(talk, barred=barred):
        for span in (span for one in found.findings for span in one.spans):
            assert not any(
                span.message_id == one.message_id and span.start < one.end and one.start < span.end
                for one in barred
                if one.start < one.end
            )


@given(TEXTS, st.sampled_from("uat"), st.integers(1, 3))
@settings(max_examples=150, deadline=None)
def test_the_echo_of_any_served_text_yields_nothing(text: str, letter: str, times: int) -> None:
    talk = [message(number, letter, text) for number in range(1, times + 1)]
    assert all(found.findings == () for found in read(talk, served=[text]))
    assert all(found.findings == () for found in read([message(1, letter, text.upper())], served=[text]))


@given(TALKS, KNOWN, SPANS, TEXTS)
@settings(max_examples=60, deadline=None)
def test_the_same_input_gives_the_same(talk: list[Message], known: list[Memory], barred: list[Span], text: str) -> None:
    assert read(talk, known, barred, [text]) == read(talk, known, barred, [text])
