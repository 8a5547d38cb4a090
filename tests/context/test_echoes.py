"""What memory served is found by its marks wherever it stands, and what a person says is never taken for it."""

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.context.echoes import cut, cut_lines, marked_blocks
from tests.context.emitted import FORMS, MARK, context, from_tool, hooked, twice

SENTENCE = "I am vegetarian"


def own(text: str) -> str:
    return cut(text, marked_blocks(text))


@pytest.mark.parametrize("form", FORMS)
def test_nothing_is_left_of_an_echo_alone(form: Callable[[str], str]) -> None:
    assert SENTENCE in form(SENTENCE)
    assert own(form(SENTENCE)) == ""


@pytest.mark.parametrize("form", FORMS)
def test_what_stands_around_an_echo_is_kept(form: Callable[[str], str]) -> None:
    assert own(f"When is dinner?\n\n{form(SENTENCE)}\n\nAnd where?") == "When is dinner?\nAnd where?"
    assert own(f"{form(SENTENCE)}\n\nhello") == "hello"
    assert own(f"  hello {form(SENTENCE)}") == "  hello"


def test_two_echoes_in_one_text_are_both_cut() -> None:
    assert own(f"one {hooked(SENTENCE)} two {from_tool(SENTENCE)} three") == "one two three"


def test_an_echo_inside_json_inside_a_text_is_cut_and_leaves_json() -> None:
    said = json.dumps({"content": [{"type": "text", "text": from_tool(SENTENCE)}], "more": "kept"})
    assert json.loads(own(said)) == {"content": [{"type": "text", "text": ""}], "more": "kept"}


@pytest.mark.parametrize(
    "text",
    [
        SENTENCE,
        f"# About the person\n- {SENTENCE}",
        f"[memory mem_1; 2026-03-01; by ada; trust: owner]\n| {SENTENCE}",
        f"what does <recalled-{MARK}> mean, and {SENTENCE}?",
        f"<recalled-{MARK}> {SENTENCE} </recalled-fedcba9876543210>",
        f"</recalled-{MARK}> {SENTENCE} <recalled-{MARK}>",
        f"<summary-20260101> {SENTENCE} </summary-20260101>",
        f"<hook_context>{SENTENCE}</hook_context>",
        f"<recalled-{MARK}>{SENTENCE}",
    ],
)
def test_what_bears_no_pair_of_marks_is_a_persons_word(text: str) -> None:
    assert own(text) == text


def test_a_mention_of_a_wrapper_before_a_real_one_does_not_take_the_words_between() -> None:
    assert own(f"what is <hook_context>?\n{hooked(SENTENCE)}") == "what is <hook_context>?"


def test_a_mark_that_a_caller_chose_is_known_by_the_heading_before_it() -> None:
    assert own(context(SENTENCE, "chosenByCaller")) == ""


def test_a_text_cut_by_lines_has_as_many_as_before() -> None:
    text = f"# A note\n{context(SENTENCE)}\nthe last line"
    kept = cut_lines(text, marked_blocks(text))
    assert SENTENCE not in kept
    assert kept.split("\n")[-1] == "the last line"
    assert kept.count("\n") == text.count("\n")


def test_the_work_grows_with_the_length_of_the_text_and_not_with_its_square() -> None:
    class Counting(str):
        seen = 0

        def __getitem__(self, key: object) -> str:
            found = super().__getitem__(key)  # type: ignore[index]
            Counting.seen += len(found)
            return found

    work: list[int] = []
    for size in (2_000, 4_000):
        Counting.seen = 0
        marked_blocks(Counting("".join(f"<recalled-{number:016x}>" for number in range(size))))
        work.append(Counting.seen)
    assert work[1] < 3 * work[0]


WORDS = st.text(st.characters(exclude_categories=["Cs"]), max_size=40) | st.sampled_from(
    ["<hook_context>", "</hook_context>", f"<recalled-{MARK}", "# Said", "| ", "&lt;", "\n\n", "[memory; by x]", "…"]
)
MEMORIES = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=60)


@given(before=WORDS, after=WORDS, memory=MEMORIES, form=st.sampled_from(FORMS))
def test_a_random_memory_served_among_random_words_leaves_the_words(
    before: str, after: str, memory: str, form: Callable[[str], str]
) -> None:
    told = f"zyzzyva {memory} zyzzyva"
    left = own(f"{before}\n{form(told)}\n{after}")
    assert "zyzzyva" not in left
    # A wrapper that the person left open may take in the echo, but nothing else.
    tags = r"</?hook_context>|[\s]+"
    assert re.sub(tags, "", left) == re.sub(tags, "", before + after)


@given(text=st.lists(WORDS | MEMORIES, max_size=5).map("".join))
def test_a_text_without_a_closing_mark_comes_back_to_the_letter(text: str) -> None:
    assert own(text) == text


@given(memory=MEMORIES)
def test_a_person_may_say_a_memory_word_for_word(memory: str) -> None:
    assert own(memory) == memory
    assert own(f"{twice(memory)}\n{memory.strip()}") == memory.strip()
