"""Laws of notes and ignore rules: any text is legal, every character is covered, and places are right."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.text.ignore import IgnoreRules
from recollectum.text.markdown import blocks, sections

pytestmark = pytest.mark.slow

LINES = st.sampled_from(
    [
        *[
            "",
            " ",
            "# A",
            "## B",
            "### C #",
            "Title",
            "===",
            "---",
            "***",
            "```",
            "~~~~",
            "   ```",
            "- item",
            "  - deeper",
        ],
        *[
            "1. one",
            "\t- tab",
            "| a | b |",
            "|---|---|",
            "text. More text",
            "    code",
            "> quote",
            "...",
            "+++",
            "é\u0301👨\u200d👩",
        ],
        "long words " * 12,
    ]
)
NOTES = st.lists(st.tuples(LINES, st.sampled_from(["\n", "\n", "\r\n", "\r", ""])).map("".join), max_size=30).map(
    "".join
)
TEXT = NOTES | st.text()
_ENDING = re.compile(r"\r\n|\r|\n")


def _line(text: str, place: int) -> int:
    """The number of the line that a character is on, counted apart from the code; CRLF belongs to the line it ends."""
    return 1 + sum(found.end() <= place for found in _ENDING.finditer(text))


@given(TEXT, st.integers(1, 120), st.floats(0, 0.5))
@settings(max_examples=600)
def test_pieces_cover_every_character_and_know_their_place(text: str, size: int, share: float) -> None:
    overlap = int(size * share)
    pieces = sections(text, size=size, overlap=overlap)
    assert all(piece.text == text[piece.start : piece.end] and 0 < len(piece.text) <= size for piece in pieces)
    assert all(a.start < b.start <= a.end < b.end for a, b in pairwise(pieces))
    assert all(a.end - b.start <= overlap for a, b in pairwise(pieces))
    assert (pieces[0].start, pieces[-1].end) == (0, len(text)) if text else pieces == []
    for piece in pieces:
        assert piece.first_line == _line(text, piece.start)
        assert piece.last_line == _line(text, piece.end - 1)


@given(TEXT)
def test_blocks_follow_each_other_without_gaps(text: str) -> None:
    found = blocks(text)
    assert all(a.end == b.start for a, b in pairwise(found))
    assert (found[0].start, found[-1].end) == (0, len(text)) if text else found == []


@given(TEXT)
def test_a_note_that_fits_is_cut_only_at_headings(text: str) -> None:
    pieces = sections(text, size=max(2, len(text)), overlap=0)
    headings = {block.start for block in blocks(text) if block.kind == "heading"}
    after_settings = {block.end for block in blocks(text) if block.kind == "front matter"}
    assert all(piece.start in headings | after_settings | {0} for piece in pieces)


@given(NOTES, st.integers(20, 200))
def test_a_fence_or_table_that_fits_is_never_cut(text: str, size: int) -> None:
    pieces = sections(text, size=size, overlap=size // 4)
    for block in blocks(text):
        if block.kind in ("fence", "table") and block.end - block.start <= size:
            assert any(piece.start <= block.start and block.end <= piece.end for piece in pieces)
            assert not any(block.start < piece.start < block.end for piece in pieces)


RULES = st.text(st.sampled_from("ab/*?[]!-^\\:# .\n\r")) | st.text()
PATHS = st.lists(st.text(st.sampled_from("ab.-] "), min_size=1, max_size=4), min_size=1, max_size=4).map("/".join)


@given(RULES, PATHS | st.text(), st.booleans())
@settings(max_examples=600)
def test_any_text_is_a_legal_file_of_rules(text: str, path: str, is_dir: bool) -> None:  # noqa: FBT001
    rules = IgnoreRules.parse(text)
    if rules.matches(path, is_dir=is_dir):
        # What is ignored takes all below it along.
        assert not is_dir or rules.matches(f"{path}/below", is_dir=False)
        assert not IgnoreRules.parse(f"{text}\n!**").matches("ab", is_dir=is_dir)


@given(RULES, RULES, PATHS)
def test_rules_of_another_folder_decide_nothing_here(top: str, other: str, path: str) -> None:
    rules = IgnoreRules.parse(top)
    elsewhere = rules.combine(IgnoreRules.parse(other, folder="elsewhere"))
    assert elsewhere.matches(path, is_dir=False) == rules.matches(path, is_dir=False)
