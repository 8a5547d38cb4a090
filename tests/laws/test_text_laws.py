"""Laws of text: what holds for every string there is."""

import itertools
import unicodedata

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from recollectum.text.chunking import chunks
from recollectum.text.cleaning import clean
from recollectum.text.terms.analyser import MAX_TERMS, index_terms, may_have, query_terms
from recollectum.text.terms.similarity import fingerprint, jaccard, outline
from recollectum.text.terms.words import analyse, contracted, pairs, spellings
from recollectum.text.tokens import estimate
from tests.text.terms.full_text import FullText

pytestmark = pytest.mark.slow

ANY = st.characters() | st.characters(categories=["Cs"])
#: Plain strings rarely hit the hard places, so these are drawn on purpose.
HARD = st.sampled_from(
    [
        "日",
        "本",
        "語",
        "カ",
        "한",
        "국",
        "ก",
        "ิ",
        "न",
        "्",
        "👨",
        "\u200d",
        "🏽",
        "️",
        "🇬",
        "🇧",
        "é",
        "ß",
        "İ",
        *list("aZ5.+#-_'’@/\\:,\"*^( \n"),
        "'s",
        "n't",
        "C++",
        ".NET",
        "½",
        "ﷺ",
        "٣",
        "\x00",
        "1,000",
    ]
)
TEXT = st.text(ANY) | st.lists(HARD, max_size=20).map("".join) | st.text(st.characters(max_codepoint=0x7F))


@pytest.fixture(scope="module")
def table() -> FullText:
    return FullText(["some text to look in"])


@given(query=TEXT)
@settings(max_examples=1000)
@pytest.mark.feature("G11")
def test_any_text_is_a_legal_query(table: FullText, query: str) -> None:
    table.find(query)
    assert len(query_terms(query)) <= MAX_TERMS


@given(text=TEXT)
@settings(max_examples=1000)
@example("x.'s y")
@example("a\u0301 \u0301a")
def test_a_text_is_found_by_each_of_its_words(table: FullText, text: str) -> None:
    table.replace(text)
    for word in text.split():
        if query_terms(word):
            assert table.find(word) == [text], word


@given(text=TEXT)
def test_a_text_is_found_in_any_case_and_form(table: FullText, text: str) -> None:
    table.replace(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        if query_terms(text):
            assert table.find(unicodedata.normalize(form, text)) == [text]


@given(text=TEXT)
def test_terms_of_a_query_are_unique_and_have_a_word(text: str) -> None:
    terms = query_terms(text)
    assert len({term.term for term in terms}) == len(terms)
    assert all(term.word for term in terms)
    assert bool(terms) == bool(index_terms(text))


@given(text=TEXT)
def test_cleaning_once_is_enough_and_leaves_what_can_be_stored(text: str) -> None:
    cleaned = clean(text)
    assert clean(cleaned) == cleaned
    assert "\0" not in cleaned
    assert cleaned.encode().decode() == cleaned
    assert all(new in (old, "\ufffd") for old, new in zip(text, cleaned, strict=False)) or len(cleaned) < len(text)


@given(text=TEXT, size=st.integers(1, 60), share=st.floats(0, 0.5))
def test_chunks_cover_every_character_in_order(text: str, size: int, share: float) -> None:
    long = text * 7
    overlap = int(size * share)
    pieces = chunks(long, size=size, overlap=overlap)
    assert pieces == chunks(long, size=size, overlap=overlap)
    assert all(piece.text == long[piece.start : piece.end] and 0 < len(piece.text) <= size for piece in pieces)
    assert all(a.start < b.start <= a.end < b.end for a, b in itertools.pairwise(pieces))
    assert all(a.end - b.start <= overlap for a, b in itertools.pairwise(pieces))
    assert (pieces[0].start, pieces[-1].end) == (0, len(long)) if long else pieces == []


@given(a=TEXT, b=TEXT)
def test_estimates_add_up(a: str, b: str) -> None:
    whole = estimate(a + b)
    assert max(estimate(a), estimate(b)) <= whole <= estimate(a) + estimate(b)
    assert (estimate(a) == 0) == (a == "")


@given(
    words=st.lists(st.sampled_from(["tea", "not", "Bob", "7", "8", "loves", "日本", "😀", "+"]), min_size=1, max_size=5)
)
def test_spacing_case_and_punctuation_never_change_a_fingerprint(words: list[str]) -> None:
    plain = " ".join(words)
    assert fingerprint(plain) == fingerprint("  \n" + " , ".join(words).upper() + " !")
    assert fingerprint(plain) == fingerprint("the " + " really ".join(words))


@given(a=st.lists(st.sampled_from(["tea", "not", "7", "+"])), b=st.lists(st.sampled_from(["tea", "not", "7", "+"])))
def test_fingerprints_are_equal_only_for_the_same_words_in_the_same_order(a: list[str], b: list[str]) -> None:
    assert (fingerprint(" ".join(a)) == fingerprint(" ".join(b))) == (a == b)


@given(a=TEXT, b=TEXT)
def test_jaccard_is_a_share(a: str, b: str) -> None:
    assert 0 <= jaccard(a, b) <= 1
    assert jaccard(a, a) == 1


@given(text=TEXT, other=TEXT)
@example(text="The vitamin A, really!", other="vitamin a")
@example(text="Don’t", other="dont")
@example(text="ﬁve ½", other="FIVE 1⁄2")
def test_texts_of_one_fingerprint_have_one_outline(text: str, other: str) -> None:
    for alike in (other, text.upper(), f"The {text}, please", unicodedata.normalize("NFKD", text), text.swapcase()):
        if fingerprint(alike) == fingerprint(text):
            assert outline(alike) == outline(text)


@given(text=TEXT)
@example(text="Grace's don't can'T I'LL getUserById's DON'T 's 't n't")
@example(text="n" * 100 + "'t")
@example(text="x" * 99 + "n't")
def test_a_contraction_is_the_term_that_taking_it_apart_makes(text: str) -> None:
    for found in spellings(text):
        if term := contracted(found):
            piece = analyse(found)
            assert (term,) == piece.parts + piece.wholes


@given(text=TEXT)
@example(text="don't node.js a@b.c 1,000 .NET getUserById well-known x_y")
@example(text="C++ and F#")
def test_a_text_may_have_each_of_its_terms(text: str) -> None:
    terms = frozenset(index_terms(text).split())
    assert may_have(text, terms) == terms


@given(text=TEXT)
@settings(max_examples=1000)
@example(text='{"body": {"text": "It\'s 3.14, isn\'t it?"}, "name": ["e-mail", "x_y"]}')
@example(text="(.NET) \".NET\", C++, F#; #tag +5 ...a a... 'tis ann's. (S')")
@example(text="getUserById() HTMLParser: THAT'S O'Neil's n't, _a_")
def test_the_terms_of_a_text_are_those_of_its_pieces(text: str) -> None:
    terms: list[str] = []
    for piece in map(analyse, spellings(text)):
        terms += [*pairs(piece.run), piece.run[-1]] if piece.run else [*piece.parts, *piece.wholes]
    assert index_terms(text).split() == terms
