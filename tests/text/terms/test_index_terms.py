"""The terms of many texts are those of each text alone, cut by the pattern of a piece."""

from hypothesis import example, given
from hypothesis import strategies as st

from recollectum.text.terms.analyser import (
    IndexTerms,
    _indexed,  # pyright: ignore[reportPrivateUsage]
    index_terms,
)
from recollectum.text.terms.words import MAX_WORD, spellings

_WORDS = st.sampled_from(
    [
        *(
            "boat",
            "the",
            "42",
            "a1",
            "1,000",
            "it's",
            "C++",
            ".NET",
            "node.js",
            "getUserById",
            "HTTPServer",
            "don't",
            "(yes)",
        ),
        *(
            "x" * MAX_WORD,
            "x" * (MAX_WORD + 1),
            "y1" * MAX_WORD,
            "é",
            "ÉLAN",
            "北京",
            "\ud800",
            "--",
            "a--b",
            "user@host.org",
        ),
        *("", " ", "\t", "\n", "\x1c", "\u00a0"),
    ]
)
_TEXT = st.lists(st.one_of(_WORDS, st.text(max_size=4)), max_size=12).map(" ".join)


def _slowly(text: str) -> list[str]:
    return " ".join(map(_indexed, spellings(text))).split()


@given(st.lists(_TEXT, max_size=6))
@example([f"boat {'x' * MAX_WORD} boat", f"boat {'x' * (MAX_WORD + 1)} boat", f"{'x' * (MAX_WORD + 1)}", "a " * 200])
def test_terms_are_those_of_the_pattern(texts: list[str]) -> None:
    of_many = IndexTerms()
    for text in texts:
        assert index_terms(text).split() == _slowly(text)
        assert of_many(text) == index_terms(text)
