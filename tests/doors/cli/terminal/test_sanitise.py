"""No text can act on a terminal, and no text is lost on the way to it."""

import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from recollectum.doors.cli.terminal.sanitise import one_line, visible


@given(st.text())
def test_nothing_that_acts_is_left(text: str) -> None:
    shown = visible(text)
    assert not [char for char in shown if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t"]
    assert not [char for char in shown if unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "RLI")]


@given(st.text(alphabet=st.characters(categories=("L", "N", "P", "S"))))
def test_what_is_harmless_stays_as_it_is(text: str) -> None:
    assert visible(text) == text


@given(st.text(), st.integers(1, 50))
def test_one_line_is_one_line_of_that_length(text: str, longest: int) -> None:
    shown = one_line(text, longest)
    assert len(shown) <= longest
    assert len(shown.splitlines()) <= 1


def test_what_is_spelled_out_can_be_read() -> None:
    assert visible("a\x1b[31mb\x9b\u202e\ud800") == "a\\x1b[31mb\\x9b\\u202e\\ud800"
