"""The scores of matches are those of FTS5, whoever adds them up."""

import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.storage.full_text.bm25 import ArrayScores, CorpusSize, PostingList, Scores, score_bm25
from recollectum.storage.port import Matches
from recollectum.storage.sqlite.full_text.posting_reader import match_any
from tests.storage.sqlite.text_indexes import Indexed, in_order, phrase_of, scored

WAYS = pytest.mark.parametrize("plain", [True, False], ids=["plain", "arrays"])
WORDS = ("ash", "birch", "cedar", "doum")
CORPUS = st.lists(st.lists(st.sampled_from(WORDS), max_size=12), max_size=12)


def _found(indexed: Indexed, phrases: list[str], *, plain: bool) -> Matches:
    """The matches by one of the two ways; without numpy loaded only one is open."""
    with pytest.MonkeyPatch.context() as patch:
        if plain:
            patch.delitem(sys.modules, "numpy", raising=False)
        else:
            pytest.importorskip("numpy")
        found = indexed.index.matches(list(map(phrase_of, phrases)))
        assert isinstance(found, Scores if plain or not len(found) else ArrayScores)
        return found


def _same(indexed: Indexed, phrases: list[str], *, plain: bool) -> None:
    found, expected = scored(_found(indexed, phrases, plain=plain)), indexed.exactly(match_any(phrases))
    assert found == pytest.approx(expected, abs=1e-9)
    assert list(found) == in_order(found)


def _wood() -> Indexed:
    """Words in one chunk, in a tenth, in half, in most and in all, once and often; and some chunks taken out."""
    chunks: dict[int, list[str]] = {}
    for number in range(3, 403, 2):
        words = ["oak"] + ["elm"] * (number % 7) + ["fir"] * (number % 4 == 1)
        chunks[number] = words + ["yew"] * (3 * (number % 10 == 1)) + ["filler"] * (number % 90)
    chunks[201].append("unique")
    chunks[203] += ["elm"] + ["filler"] * 126
    chunks[205] += ["elm"] * 5000
    indexed = Indexed((number, " ".join(words)) for number, words in chunks.items())
    with indexed.connection:
        indexed.index.remove([3, 11, 207, 401])
    return indexed


@pytest.fixture(scope="module")
def wood() -> Indexed:
    return _wood()


@pytest.mark.feature("G11")
@WAYS
@pytest.mark.parametrize("word", ["unique", "yew", "fir", "elm", "oak", "filler", "Elms", "ÉLM"])
def test_a_word_of_any_frequency_has_the_scores_of_fts5(wood: Indexed, word: str, *, plain: bool) -> None:
    _same(wood, [f'"{word}"'], plain=plain)


@WAYS
def test_several_words_add_up_as_in_fts5(wood: Indexed, *, plain: bool) -> None:
    _same(wood, ['"elm"', '"unique"', '"fir"', '"nowhere"', '"yew"'], plain=plain)


@WAYS
@given(
    chunks=CORPUS, phrases=st.lists(st.sampled_from(WORDS), min_size=1, unique=True), gone=st.sets(st.integers(1, 9))
)
def test_any_corpus_has_the_scores_of_fts5(
    chunks: list[list[str]], phrases: list[str], gone: set[int], *, plain: bool
) -> None:
    indexed = Indexed((number, " ".join(words)) for number, words in enumerate(chunks, start=1))
    with indexed.connection:
        indexed.index.remove(number for number in gone if number <= len(chunks))
    _same(indexed, [f'"{word}"' for word in phrases], plain=plain)


@WAYS
@pytest.mark.parametrize("places", [118, 119, 120, 121, 122])
@pytest.mark.parametrize("times", [1, 2, 7, 200])
def test_a_word_of_about_as_many_places_as_are_sampled_is_found_whole(places: int, times: int, *, plain: bool) -> None:
    chunks = [(number, "ash " * min(times, places - times * number)) for number in range(-(-places // times))]
    indexed = Indexed([*((number + 1, f"{terms} birch") for number, terms in chunks), (900, "birch"), (901, "cedar")])
    _same(indexed, ['"ash"', '"cedar"'], plain=plain)


def test_both_ways_find_the_same(wood: Indexed) -> None:
    phrases = ['"elm"', '"oak elm"', '"fi" *', '"yew"']
    plain, arrays = (_found(wood, phrases, plain=plain) for plain in (True, False))
    assert scored(arrays) == pytest.approx(scored(plain), abs=1e-12)
    for most in (0, 1, 7, len(plain), len(plain) + 5):
        assert arrays.best(most) == plain.best(most)
    sought = [205, 3, 0, 999, 7, 205]
    assert arrays.scores(sought) == pytest.approx(plain.scores(sought), abs=1e-12)
    assert plain.scores(sought).keys() == {205, 7}
    assert arrays.scores([]) == plain.scores([]) == {}


@WAYS
def test_of_equals_the_newer_comes_first_wherever_the_list_is_cut(*, plain: bool) -> None:
    indexed = Indexed((number, "ash" if number % 3 else "birch") for number in range(1, 31))
    found, order = _found(indexed, ['"ash"'], plain=plain), [number for number in range(30, 0, -1) if number % 3]
    assert [found.best(most) for most in range(1, 21)] == [order[:most] for most in range(1, 21)]


@WAYS
def test_a_chunk_longer_than_two_bytes_can_say_counts_as_that_long(*, plain: bool) -> None:
    chunks = [(1, "ash " + "birch " * 16_381), (2, "ash " + "birch " * 40_000), *((n, "cedar") for n in range(3, 9))]
    indexed = Indexed(chunks)
    found, exact = scored(_found(indexed, ['"ash"'], plain=plain)), indexed.exactly('"ash"')
    assert found[1] == pytest.approx(exact[1], abs=1e-9)
    # A word more than the first one, and not more than twice as many.
    assert exact[2] < found[2] < found[1]
    assert found[2] == pytest.approx(found[1], rel=1e-3)


@WAYS
@pytest.mark.parametrize("expression", ['"oak elm"', '"elm elm fir"', '"fi" *', '"elm fi" *', '"北" *', '"北京"'])
def test_phrases_and_beginnings_find_what_fts5_finds(expression: str, *, plain: bool) -> None:
    indexed = _wood()
    indexed.add([(500, "北京 oak"), (502, "北海 elm"), (504, "東北 fir")])
    expected = indexed.exactly(expression)
    assert expected
    assert scored(_found(indexed, [expression], plain=plain)).keys() == expected.keys()


@WAYS
@pytest.mark.parametrize("phrases", [[], ['"nowhere"'], ['"no where"'], ['"nowhere" *'], ['"!?"']])
def test_nothing_is_found_for_nothing_and_for_what_nobody_said(
    wood: Indexed, phrases: list[str], *, plain: bool
) -> None:
    for indexed in (wood, Indexed()):
        found = _found(indexed, phrases, plain=plain)
        assert (len(found), found.best(10), found.scores([1, 5])) == (0, [], {})


@WAYS
def test_a_phrase_said_twice_in_a_question_counts_once(wood: Indexed, *, plain: bool) -> None:
    once, twice = (scored(_found(wood, ['"yew"'] * times, plain=plain)) for times in (1, 2))
    assert once == twice


@pytest.mark.parametrize("frequency", [None, 1, 50, 10_000])
def test_a_frequency_that_is_a_guess_never_speaks_against_a_chunk(frequency: int | None) -> None:
    found = scored(
        score_bm25([PostingList("[2,2,5]", frequency)], array("H", bytes(2 * 8)), CorpusSize(100, 900), whole=True)
    )
    assert list(found) == [2, 5]
    assert all(score > 0 for score in found.values())
