"""Laws of the text index in memory: whatever is indexed, it finds and scores what the index on FTS5 does."""

import sys
from array import array
from collections.abc import Iterator, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test

from recollectum.storage.full_text import candidates, phrase_frequencies
from recollectum.storage.full_text.tokenizer import cut_terms
from recollectum.storage.port import Matches
from recollectum.storage.postgres.full_text.token_lists import TokenLists
from recollectum.storage.postgres.full_text.tokens import KnownTokens, pack_each, pack_tokens, token_of
from recollectum.text.terms import match_plan
from recollectum.text.terms.analyser import Phrase, expand_kinds, index_terms, phrases, query_terms
from tests.storage.sqlite.text_indexes import Indexed

pytestmark = pytest.mark.slow

#: Few words, so that a question meets many chunks; and one of every kind that is cut differently.
WORDS = (
    "oak", "oaks", "running", "runner", "elm", "ash", "birch", "yew", "it's", "C++", ".NET", "3.14", "mother-in-law",
    "ÉLAN", "a", "b", "北京", "北海", "東京都", "京都", "カフェ", "한국", "ไทย",
    "user@example.org", "ﷺ", "東", "sibling", "brother",
)  # fmt: skip
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)
TEXTS = st.lists(TEXT, max_size=8)
QUESTION = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)
LARGE_QUESTIONS = (
    "w1", "w2", "w997", "w1 w2 w3", "w5003 w1", "w7 w19 w101", "newer", "older w2", "newer older", "n77 w1",
    "w2-w3", "北", "北京 w19", "n5 n6 n7 w101 newer older w1 w2 w3 w7",
)  # fmt: skip
LETTERS = st.sampled_from("oabe北東京カ한ไ")


_LEARNED = KnownTokens()


@given(st.lists(TEXT | st.text(st.characters(exclude_categories=["Cs"])), max_size=6))
def test_texts_cut_together_have_the_tokens_of_each_alone(texts: list[str]) -> None:
    alone = [array("Q", map(token_of, cut_terms(text))).tobytes() for text in texts]
    if sys.byteorder == "little":
        assert pack_each(texts, KnownTokens()) == alone
        # Those of words that are known from other texts are the same.
        assert pack_each(texts, _LEARNED) == alone
    assert [pack_tokens(text, KnownTokens()) for text in texts] == pack_each(texts, KnownTokens())


class Both:
    """The same chunks in both indexes."""

    def __init__(self) -> None:
        self.on_fts5 = Indexed()
        self.in_memory = TokenLists()
        self._known = KnownTokens()

    def change(self, texts: dict[int, str | None]) -> None:
        """Index or, without a text, remove chunks, in one transaction."""
        rows = [(number, text if text is None else index_terms(text)) for number, text in sorted(texts.items())]
        with self.on_fts5.connection:
            self.on_fts5.index.remove(number for number, _ in rows)
            self.on_fts5.index.add((number, terms) for number, terms in rows if terms is not None)
        packed = [(number, None if terms is None else pack_tokens(terms, self._known)) for number, terms in rows]
        self.in_memory = self.in_memory.changed(packed)

    def compare(self, sought: Sequence[Phrase], among: Sequence[int] | None = None) -> Matches:
        """Ask both, and compare everything that they answer."""
        expected = self.on_fts5.index.matches(sought, among=among)
        found = self.in_memory.matches(sought, among)
        assert (len(found), found.whole, found.chunks) == (len(expected), expected.whole, expected.chunks)
        assert [found.frequency(one) for one in sought] == [expected.frequency(one) for one in sought]
        for most in (1, 3, len(expected)):
            assert found.best(most) == expected.best(most)
        numbers = [*expected.best(len(expected)), 0, self.in_memory.highest + 1]
        # Equal to the last bit: both add the same numbers in the same order.
        assert found.scores(numbers) == expected.scores(numbers)
        return found


class Histories(RuleBasedStateMachine):
    """Chunks are added, indexed again under other terms and removed, and questions are asked in between."""

    def __init__(self) -> None:
        super().__init__()
        self.both = Both()
        self.last = 0

    @rule(texts=TEXTS, gap=st.integers(0, 3))
    def add(self, texts: list[str], gap: int) -> None:
        first = self.last + 1 + gap
        self.last += gap + len(texts)
        self.both.change(dict(enumerate(texts, start=first)))

    @rule(numbers=st.sets(st.integers(1, 40), max_size=5))
    def remove(self, numbers: set[int]) -> None:
        self.both.change(dict.fromkeys(numbers))

    @rule(place=st.floats(0, 1), texts=st.lists(TEXT | st.none(), max_size=4))
    def index_again(self, place: float, texts: list[str | None]) -> None:
        first = 1 + int(place * self.last)
        self.both.change({number: one for number, one in enumerate(texts, start=first) if number <= self.last})

    @rule(question=QUESTION, among=st.none() | st.lists(st.integers(0, 60), max_size=9))
    def ask(self, question: str, among: list[int] | None) -> None:
        self.both.compare(phrases(expand_kinds(query_terms(question))), among)

    @rule(words=st.lists(st.sampled_from(["oak", "elm", "run", "北京", "!?"]), max_size=3), letter=LETTERS)
    def ask_for_a_prefix(self, words: list[str], letter: str) -> None:
        whole = Phrase(" ".join(words)) if words else Phrase("yew")
        self.both.compare([Phrase(" ".join([*words, letter]), prefix=True), whole, Phrase(letter, prefix=True)])

    @invariant()
    def the_size_is_the_same(self) -> None:
        assert self.both.in_memory.size.chunks == self.both.on_fts5.index.count()


def test_any_history_of_an_index_has_the_matches_of_fts5() -> None:
    run_state_machine_as_test(Histories)


@pytest.fixture
def _every_index_is_large() -> Iterator[None]:
    """Make ten chunks a large index, so that small examples take the path that leaves frequent words out."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(candidates, "SMALL", 10)
        patch.setattr(match_plan, "SMALL", 10)
        patch.setattr(match_plan, "BUDGET", 4)
        patch.setattr(match_plan, "_ENOUGH", 3)
        patch.setattr(phrase_frequencies, "_SAMPLE", 3)
        patch.setattr(candidates, "_LOOKUP_COST", 2)
        yield


@pytest.mark.usefixtures("_every_index_is_large")
def test_any_history_of_a_large_index_has_the_matches_of_fts5() -> None:
    run_state_machine_as_test(Histories)


@given(texts=st.lists(st.text(max_size=30), max_size=6), question=st.text(max_size=12))
def test_any_letters_have_the_matches_of_fts5(texts: list[str], question: str) -> None:
    both = Both()
    both.change(dict(enumerate(texts, start=1)))
    both.compare(phrases(query_terms(question)))
    both.compare([Phrase(words) for words in index_terms(" ".join([question, *texts])).split()[:20]])


@pytest.mark.parametrize("size", [19_990, 24_000])
def test_a_large_index_has_the_matches_of_fts5(size: int) -> None:
    both = Both()
    # Words of every frequency, from one chunk to all; the last ones only in the newer or the older half.
    for start in range(1, size + 1, 8_000):
        texts: dict[int, str | None] = {}
        for number in range(start, min(size + 1, start + 8_000)):
            words = [f"w{rate}" for rate in (1, 2, 3, 7, 19, 101, 997, 5_003) if number % rate == 0]
            words += ["w2"] * (number % 4 == 0) + ["newer" if number > size // 2 else "older"]
            texts[number] = " ".join([*words, f"n{number}", "北京" if number % 5 else "北海"])
        both.change(texts)
    both.change(dict.fromkeys(range(5, size, 41)))
    narrowed = 0
    for question in LARGE_QUESTIONS:
        sought = phrases(query_terms(question))
        narrowed += not both.compare(sought).whole
        both.compare(sought, list(range(1, size, 601)))
    assert bool(narrowed) == (size > match_plan.SMALL)
