"""What a model is given of a text: legible, never blank, and never more than it reads."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.models.embedding.inputs import fit_text, weigh_text
from recollectum.text.tokens import estimate

_ANY = st.text(st.characters(exclude_categories=()), max_size=200)


@given(text=_ANY, repeats=st.integers(1, 50), tokens=st.integers(4, 40))
def test_any_text_becomes_one_that_fits(text: str, repeats: int, tokens: int) -> None:
    fitted = fit_text(text * repeats, tokens)
    assert fitted.strip()
    assert estimate(fitted) <= tokens
    fitted.encode()


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=40))
def test_a_short_text_is_left_as_it_is(text: str) -> None:
    assert fit_text(text, 1000) == (text if text.strip() else ".")


@pytest.mark.parametrize(("text", "tokens"), [("word " * 1000, 100), ("字" * 1000, 100)])
def test_as_much_is_kept_as_fits(text: str, tokens: int) -> None:
    kept = fit_text(text, tokens)
    assert text.startswith(kept)
    assert estimate(text[: len(kept) + 1]) > tokens
    assert weigh_text(text, tokens) == tokens
