"""The full-text index of a large vault: the same best matches, without ranking every chunk that has a frequent word."""

import random

import pytest

from recollectum.storage.sqlite.full_text.posting_reader import match_any, quoted
from recollectum.text.terms.analyser import Phrase
from recollectum.text.terms.match_plan import BUDGET, SMALL
from tests.storage.sqlite.text_indexes import Indexed, in_order, scored

LARGE = SMALL + 5_000
NEEDLE = 17_003


def filled(size: int) -> Indexed:
    chance = random.Random(5)
    chunks: dict[int, str] = {}
    for number in range(1, size + 1):
        words = ["often"] * (number % 11 == 0) + ["common"] * (number % 12 == 0) + ["seldom"] * (number % 900 == 0)
        words += ["left"] * (number % 24 in (1, 2)) + ["right"] * (number % 24 in (5, 6)) + ["half"] * (number % 2)
        words += ["third"] * (number % 3 == 0) + ["fourth"] * (number % 4 == 0)
        chunks[number] = " ".join([*words, *(f"w{chance.randrange(50)}" for _ in range(6))])
    chunks[NEEDLE] = "needle often common"
    return Indexed(chunks.items())


@pytest.fixture(scope="module")
def large() -> Indexed:
    return filled(LARGE)


def _phrases(words: str) -> list[Phrase]:
    return [Phrase(word) for word in words.split()]


def test_in_a_small_index_every_match_is_ranked() -> None:
    indexed, phrases = filled(600), _phrases("half w7 nowhere third")
    found = indexed.index.matches(phrases)
    assert scored(found) == pytest.approx(indexed.exactly(match_any(map(quoted, phrases))), abs=1e-9)
    assert scored(indexed.index.matches(phrases, among=range(1, 601))) == pytest.approx(scored(found), abs=1e-12)


@pytest.mark.feature("G11")
def test_in_a_large_index_a_frequent_phrase_counts_beside_rarer_ones(large: Indexed) -> None:
    phrases = _phrases("often common needle")
    found, exact = scored(large.index.matches(phrases)), large.exactly(match_any(map(quoted, phrases)))
    assert found.keys() == large.exactly('"common" OR "needle"').keys() < exact.keys()
    # Ranked by all its phrases, not by the rare ones alone; how many have the frequent one is a guess.
    assert found[NEEDLE] == max(found.values()) == pytest.approx(exact[NEEDLE], rel=0.01)
    assert found[NEEDLE] > scored(large.index.matches(_phrases("common needle")))[NEEDLE]


@pytest.mark.feature("G11")
def test_the_best_are_the_same_where_rare_and_frequent_phrases_meet(large: Indexed) -> None:
    phrases = _phrases("often common seldom")
    found, exact = large.index.matches(phrases), large.exactly(match_any(map(quoted, phrases)))
    assert len(found) < len(exact)
    assert found.best(10) == in_order(exact)[:10]


@pytest.mark.feature("G11")
def test_of_one_frequent_phrase_the_newest_are_found(large: Indexed) -> None:
    found, exact = large.index.matches(_phrases("half nowhere")), large.exactly('"half"')
    assert len(exact) > BUDGET
    assert set(found.best(len(found))) == set(sorted(exact)[-BUDGET:])


@pytest.mark.feature("G11")
def test_of_frequent_phrases_alone_all_are_found_where_two_of_them_meet(large: Indexed) -> None:
    found = large.index.matches(_phrases("third fourth"))
    both, either = large.exactly('"third" AND "fourth"'), large.exactly('"third" OR "fourth"')
    assert both.keys() <= set(found.best(len(found))) < either.keys()
    assert set(found.best(200)) <= both.keys()


def test_phrases_that_never_meet_are_found_alone(large: Indexed) -> None:
    phrases = _phrases("left right")
    assert not large.exactly(" AND ".join(map(quoted, phrases)))
    assert len(large.index.matches(phrases)) > 1_000


@pytest.mark.parametrize("words", ["half", "half third", "often common needle", "left w7 nowhere"])
def test_the_whole_is_every_match_with_its_exact_score(large: Indexed, words: str) -> None:
    phrases = _phrases(words)
    found = scored(large.index.matches(phrases, among=range(1, LARGE + 1)))
    assert found == pytest.approx(large.exactly(match_any(map(quoted, phrases))), abs=1e-9)


def test_nothing_is_found_of_what_nobody_said(large: Indexed) -> None:
    for phrases in ([], [Phrase("nowhere")], [Phrase("nowhere", prefix=True), Phrase("no where")]):
        assert len(large.index.matches(phrases)) == len(large.index.matches(phrases, among=range(1, LARGE + 1))) == 0


def test_the_index_counts_what_it_has_and_forgets_what_is_removed() -> None:
    indexed = Indexed((number, f"word w{number}") for number in range(1, 6))
    with indexed.connection:
        indexed.index.remove([2, 4, 99])
        indexed.index.scrub()
    assert indexed.index.count() == 3
    assert sorted(scored(indexed.index.matches(_phrases("word w2")))) == [1, 3, 5]


@pytest.mark.feature("G11")
@pytest.mark.parametrize("times", [1, 3])
def test_a_word_that_was_much_spoken_of_once_still_counts(times: int) -> None:
    # In few chunks of all, but those come first, and some have it more than once.
    chunks = {number: f"w{number % 50} w{number % 7} plain" for number in range(1, LARGE + 1)}
    for number in range(10, 160):
        chunks[number] += " badger" * times
    chunks[20_000] += " fence"
    indexed = Indexed(chunks.items())
    found = indexed.index.matches(_phrases("badger fence"))
    assert {*range(10, 160), 20_000} == set(found.best(len(found)))


@pytest.mark.feature("G11")
def test_parts_are_merged_a_few_pages_at_a_time_and_nothing_else_is_found() -> None:
    chance = random.Random(7)
    indexed = Indexed()
    for number in range(1, 401):
        indexed.add([(number, " ".join(f"w{chance.randrange(300)}" for _ in range(20)))])
    with indexed.connection:
        indexed.index.remove([5, 77, 200])
    searches = [_phrases("w7 w8 nowhere"), [Phrase("w1", prefix=True)], _phrases("w299")]
    before, parts = [scored(indexed.index.matches(one)) for one in searches], indexed.index.parts
    steps = 0
    more = True
    while more:
        with indexed.connection:
            more = indexed.index.scrub(pages=8)
        steps += more
        assert [scored(indexed.index.matches(one)) for one in searches] == before
    assert parts > 3 > indexed.index.parts
    assert steps
    assert [scored(indexed.index.matches(one)) for one in searches] == before
    indexed.connection.execute("INSERT INTO search (search) VALUES ('integrity-check')")
