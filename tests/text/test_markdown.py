"""Markdown notes: where they are cut, and what each piece knows of its place."""

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.text.markdown import NoteChunk, blocks, sections

NOTE = """---
title: Rome
---

Before any heading.

# Rome

## Food
Carbonara.

### Where
Trastevere.

## Sights #
The Forum.

Florence
========

Uffizi.
"""


def _kinds(text: str) -> list[tuple[str, str]]:
    return [(block.kind, text[block.start : block.end]) for block in blocks(text)]


def test_each_section_knows_its_headings_and_lines() -> None:
    found = [(piece.headings, piece.first_line, piece.last_line) for piece in sections(NOTE)]
    assert found == [
        ((), 1, 4),
        ((), 5, 6),
        (("Rome", "Food"), 7, 11),
        (("Rome", "Food", "Where"), 12, 14),
        (("Rome", "Sights"), 15, 17),
        (("Florence",), 18, 21),
    ]


def test_front_matter_is_a_piece_of_its_own() -> None:
    first, *rest = sections(NOTE)
    assert first.is_front_matter
    assert first.text == "---\ntitle: Rome\n---\n\n"
    assert not any(piece.is_front_matter for piece in rest)
    assert not sections("---\n\nA rule above, not settings.\n\n---\n")[0].is_front_matter
    assert not sections("---\nnever: closed\n")[0].is_front_matter
    assert sections("\ufeff+++\nx = 1\n+++\n# A\n")[0].is_front_matter


def test_a_plain_text_is_cut_like_any_other() -> None:
    assert sections("Just words.") == [NoteChunk("Just words.", 0, 11, 1, 1, ())]
    assert sections("") == []
    assert [piece.text for piece in sections(" \n\n")] == [" \n\n"]
    pieces = sections("Word by word. " * 400)
    assert len(pieces) > 2
    assert {piece.first_line for piece in pieces} == {1}


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_lines_are_counted_whatever_ends_them(ending: str) -> None:
    text = f"one\x0b\u2028{ending}{ending}# A{ending}two{ending}three"
    assert [(piece.first_line, piece.last_line) for piece in sections(text)] == [(1, 2), (3, 5)]


def test_a_heading_is_not_what_only_looks_like_one() -> None:
    text = "#tag\n\n    # code\n\n```sh\n# comment\n```\n\n> quoted\n---\n\n* * *\n\n####### seven\n"
    assert {piece.headings for piece in sections(text)} == {()}
    assert sections("# C#\nx")[0].headings == ("C#",)
    assert sections("# A ##\nx")[0].headings == ("A",)
    assert sections("#\nx")[0].headings == ("",)


def test_a_shallower_heading_ends_deeper_ones() -> None:
    text = "### Deep\nx\n# Top\ny\n### Skipped\nz\n## Second\nw\n"
    assert [piece.headings for piece in sections(text)] == [
        ("Deep",),
        ("Top",),
        ("Top", "Skipped"),
        ("Top", "Second"),
    ]


def test_the_blocks_of_a_note() -> None:
    text = (
        "A line\ngoes on\n- one\n\n  more\n- two\nlazy\n\nText\n| a | b |\n|---|:-:|\n| 1 | 2 |\n~~~\nx\n```\n~~~\nend"
    )
    assert _kinds(text) == [
        ("paragraph", "A line\ngoes on\n"),
        ("list", "- one\n\n  more\n- two\nlazy\n\n"),
        ("paragraph", "Text\n"),
        ("table", "| a | b |\n|---|:-:|\n| 1 | 2 |\n"),
        ("fence", "~~~\nx\n```\n~~~\n"),
        ("paragraph", "end"),
    ]


def test_a_fence_in_a_list_stays_in_it() -> None:
    text = "1. first\n   ```\n# not a heading\n\n   ```\n2. second\n\n# Heading\n"
    assert [kind for kind, _ in _kinds(text)] == ["list", "heading"]


def test_a_fence_that_fits_is_not_cut() -> None:
    fence = "```python\n" + "print('hello')\n\n" * 4 + "```\n"
    text = "Words go here. " * 9 + "\n\n" + fence + "\nAnd more words follow. " * 4
    pieces = sections(text, size=150, overlap=30)
    assert any(fence in piece.text for piece in pieces)
    # What is shared with the next piece is no half of a fence either.
    assert all(piece.text.count("```") % 2 == 0 for piece in pieces)


def test_a_list_that_fits_is_kept_together_and_a_longer_one_cut_between_items() -> None:
    items = "".join(f"- item {number} is here. Really.\n" for number in range(4))
    text = "Words. " * 10 + "\n\n" + items
    assert any(items in piece.text for piece in sections(text, size=140, overlap=0))
    pieces = sections(items * 3, size=100, overlap=0)
    assert all(piece.text.startswith("- item") and piece.text.endswith("Really.\n") for piece in pieces)


def test_pieces_of_a_section_share_words_and_sections_share_nothing() -> None:
    text = "# A\n" + "alpha beta gamma. " * 10 + "\n\n" + "delta epsilon. " * 10 + "\n\n# B\nother\n"
    *pieces, last = sections(text, size=200, overlap=40)
    assert pieces[1].start < pieces[0].end
    assert last.start == pieces[-1].end
    assert text[pieces[1].start - 1].isspace()


def test_a_heading_goes_with_what_has_to_be_cut() -> None:
    pieces = sections("# A\n\n" + "word " * 100, size=100, overlap=10)
    assert pieces[0].text.startswith("# A\n\nword")


def test_sizes_that_cannot_be_cut_are_refused() -> None:
    with pytest.raises(InvalidInput, match="cannot be cut"):
        sections("text", size=10, overlap=6)


def test_long_and_odd_notes_are_read_quickly() -> None:
    for odd in (
        "#" + " " * 50_000 + "x",
        "|" * 20_000,
        "- " * 30_000,
        "`" * 50_000,
        "\n" * 50_000,
        "> " * 20_000 + "\n---",
    ):
        assert "".join(piece.text for piece in sections(odd, overlap=0)) == odd
