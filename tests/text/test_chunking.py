"""Chunking: where the cuts fall."""

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import Chunk
from recollectum.text.chunking import chunks


def test_an_empty_text_has_no_chunks() -> None:
    assert chunks("") == []


def test_a_short_text_is_one_chunk() -> None:
    assert chunks("Hello.") == [Chunk("Hello.", 0, 6)]
    assert len(chunks("x" * 1600)) == 1
    assert len(chunks("x" * 1601)) == 2


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One two three. Four\n\nfive six. Seven eight nine", "One two three. Four\n\n"),
        ("One two three four. Five six seven eight nine ten", "One two three four. "),
        ("one two three four five six seven eight nine ten", "one two three four five six "),
        ("今日は天気がいいですねえ。散歩に行きましょうか、それとも家にいますか", "今日は天気がいいですねえ。"),
        ("x" * 40, "x" * 28),
        ("x" * 27 + "e\u0301" + "x" * 20, "x" * 27),
    ],
)
def test_cuts_at_the_best_border_in_reach(text: str, first: str) -> None:
    assert chunks(text, size=28 if len(text) > 36 else 20, overlap=0)[0].text == first


def test_neighbours_share_whole_words() -> None:
    pieces = chunks("alpha beta gamma delta epsilon zeta eta theta iota kappa", size=24, overlap=12)
    assert [piece.text for piece in pieces][:2] == ["alpha beta gamma delta ", "delta epsilon zeta eta "]


def test_a_border_too_near_the_start_does_not_send_the_next_piece_back() -> None:
    pieces = chunks("a " + "x" * 60, size=20, overlap=10)
    assert [piece.start for piece in pieces] == [0, 10, 20, 30, 40, 50]


@pytest.mark.parametrize(("size", "overlap"), [(0, 0), (10, 6), (10, -1)])
def test_sizes_that_cannot_be_cut_are_refused(size: int, overlap: int) -> None:
    with pytest.raises(InvalidInput, match="cannot be cut"):
        chunks("text", size=size, overlap=overlap)
