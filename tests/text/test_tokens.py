"""Token estimates against what known vocabularies need."""

import pytest

from recollectum.text.tokens import estimate


@pytest.mark.parametrize(
    ("text", "at_least", "at_most"),
    [
        ("", 0, 0),
        ("a", 1, 1),
        ("The quick brown fox jumps over the lazy dog.", 10, 13),
        ("for (int i = 0; i < n; i++) { total += a[i]; }", 15, 25),
        ("3.14159265358979", 6, 16),
        ("我喜欢喝绿茶", 6, 9),
        ("日本語のテキスト", 7, 11),
        ("Я люблю чай", 4, 8),
        ("हिन्दी", 4, 9),
        ("😀😀", 4, 8),
        ("\ud800", 1, 3),
    ],
)
def test_estimate_is_in_the_range_of_real_tokenizers(text: str, at_least: int, at_most: int) -> None:
    assert at_least <= estimate(text) <= at_most


def test_prose_is_about_four_characters_a_token() -> None:
    prose = "Grace moved to Lyon in the spring, and she likes the river and the market near her flat. " * 20
    assert 3.5 <= len(prose) / estimate(prose) <= 4.2
