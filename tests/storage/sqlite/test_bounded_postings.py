"""The work of a question in a large index has a limit, however many chunks contain its words."""

from collections.abc import Sequence

import pytest

from bench.million import StepCounter
from recollectum.storage.sqlite.full_text.posting_reader import match_any, quoted
from recollectum.text.terms.analyser import Phrase
from recollectum.text.terms.match_plan import BUDGET
from tests.storage.sqlite.text_indexes import Indexed, in_order, scored

pytestmark = pytest.mark.slow

SMALLER, LARGER = 30_000, 120_000
RARE = 5


def _text(number: int, size: int) -> str:
    """The words of one of so many chunks; all chunks have the same length."""
    old, middle = number <= size // 2, size // 4 < number <= size * 3 // 4
    words = ["all", "each", "any", "former" if old else "recent"]
    words += ["salt"] * (number % 12 == 0) + ["pepper"] * (number % 11 == 0) + ["mustard"] * (number % 24 == 0)
    words += [f"middle{one}" for one in range(3) if middle or number % 40 == one]
    words += ["rare"] * (number % (size // RARE) == 99)
    return " ".join([*words, *["filler"] * (12 - len(words))])


class Counted:
    """An index that has loaded the lengths of its chunks, and the steps of SQLite's machine."""

    def __init__(self, indexed: Indexed) -> None:
        self.indexed, self.index, self._counter = indexed, indexed.index, StepCounter()
        self._counter.watch(indexed.connection)
        self.index.matches([Phrase("rare")])

    def steps(self, words: str, among: Sequence[int] | None = None) -> int:
        """Count the steps of one question."""
        before = self._counter.total
        self.index.matches(_phrases(words), among=among)
        return self._counter.total - before


def _filled(size: int) -> Counted:
    return Counted(Indexed((number, _text(number, size)) for number in range(1, size + 1)))


@pytest.fixture(scope="module")
def smaller() -> Counted:
    return _filled(SMALLER)


@pytest.fixture(scope="module")
def larger() -> Counted:
    return _filled(LARGER)


def _phrases(words: str) -> list[Phrase]:
    return [Phrase(word) for word in words.split()]


def _exactly(counted: Counted, words: str) -> dict[int, float]:
    return counted.indexed.exactly(match_any(map(quoted, _phrases(words))))


@pytest.mark.feature("G11")
@pytest.mark.parametrize(
    "words", ["all", "all each any", "former", "recent", "former all", "rare former", "rare all each any"]
)
def test_the_work_of_a_question_does_not_grow_with_the_index(smaller: Counted, larger: Counted, words: str) -> None:
    # The second index is four times as large.
    assert larger.steps(words) < 1.5 * smaller.steps(words)


@pytest.mark.parametrize("words", ["rare all each any", "rare former", "former recent rare", "mustard salt rare"])
def test_the_chunks_with_the_one_rare_word_are_found_first(larger: Counted, words: str) -> None:
    assert sorted(larger.index.matches(_phrases(words)).best(RARE)) == sorted(_exactly(larger, "rare"))


@pytest.mark.feature("G11")
def test_where_frequent_words_meet_too_often_the_newest_are_ranked_by_all_of_them(larger: Counted) -> None:
    words = "mustard salt pepper"
    found, exact = scored(larger.index.matches(_phrases(words))), _exactly(larger, words)
    assert BUDGET <= len(found) < len(_exactly(larger, "mustard"))
    assert list(found)[:10] == in_order(exact)[:10]
    # How many chunks contain each word is an estimate.
    assert found == pytest.approx({number: exact[number] for number in found}, rel=0.02)


def test_a_word_that_was_only_frequent_once_is_found_where_it_was_last(larger: Counted) -> None:
    found = larger.index.matches(_phrases("former"))
    assert set(found.best(len(found))) == set(range(LARGER // 2 - BUDGET + 1, LARGER // 2 + 1))
    assert found.frequency(Phrase("former")) > BUDGET


@pytest.mark.parametrize("words", ["middle0", "middle0 middle1", "middle0 middle1 middle2 rare"])
def test_words_that_are_rare_in_the_oldest_and_the_newest_chunks_only_are_not_ranked_in_all(
    larger: Counted, words: str
) -> None:
    found = larger.index.matches(_phrases(words))
    assert BUDGET <= len(found) <= 3 * BUDGET


@pytest.mark.feature("G11")
@pytest.mark.parametrize("words", ["all each any", "rare former", "recent"])
def test_to_look_for_words_in_a_few_chunks_does_not_grow_with_the_index(
    smaller: Counted, larger: Counted, words: str
) -> None:
    few = range(500, 600)
    assert larger.steps(words, few) < 1.5 * smaller.steps(words, few)


@pytest.mark.parametrize("count", [1, 30, 3_000, LARGER])
@pytest.mark.parametrize("words", ["all", "former salt rare", "mustard salt pepper nowhere", "recent"])
def test_of_some_chunks_all_that_match_are_found(larger: Counted, words: str, count: int) -> None:
    some = range(24, LARGER + 1, LARGER // count)
    found, exact = larger.index.matches(_phrases(words), among=some), _exactly(larger, words)
    assert found.whole
    # How many chunks contain each word is an estimate if the chunks are few.
    assert scored(found) == pytest.approx({number: exact[number] for number in some if number in exact}, rel=0.1)


def test_a_word_that_none_of_some_chunks_contains_is_still_known_to_be_frequent(larger: Counted) -> None:
    for count in (10, LARGER // 2):
        found = larger.index.matches(_phrases("recent all"), among=range(1, count + 1))
        assert len(found) == count
        assert found.frequency(Phrase("recent")) == pytest.approx(LARGER / 2, rel=0.1)
