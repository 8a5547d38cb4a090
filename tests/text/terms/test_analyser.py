"""What is found by what: every case runs in a real FTS5 table."""

import sys
import time
import unicodedata
from collections.abc import Callable

import apsw
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from recollectum.storage.sqlite.full_text.posting_reader import quoted
from recollectum.text.terms.analyser import MAX_TERMS, Phrase, QueryTerm, index_terms, phrases, query_terms
from recollectum.text.terms.words import MAX_WORD, analyse, located_pieces
from tests.text.terms.full_text import FullText

FOUND = [
    ("I write C++ at work", "C++"),
    ("I write C++ at work", "c++"),
    ("I write C++17 at work", "C++"),
    ("I write C++ at work", "c"),
    ("moved from F# to C#", "C#"),
    ("moved from F# to C#", "fsharp"),
    ("the .NET runtime", ".net"),
    ("the .NET runtime", "net"),
    ("the .NET runtime", "dotnet"),
    ("ASP.NET is old", "asp.net"),
    ("a node.js server", "node.js"),
    ("a node.js server", "nodejs"),
    ("a NodeJS server", "node.js"),
    ("a node.js server", "node"),
    ("write to user@example.com soon", "user@example.com"),
    ("write to user@example.com soon", "example"),
    ("write to user@example.com soon", "example.com"),
    ("pi is 3.14 or so", "3.14"),
    ("it costs 1,000,000 euros", "1000000"),
    ("it costs 1000000 euros", "1,000,000"),
    ("released v1.2.3 today", "v1.2.3"),
    ("released v1.2.3 today", "v1.2"),
    ("see src/app/main.py please", "src/app/main.py"),
    ("see src/app/main.py please", "main.py"),
    (r"open C:\Users\Ada\notes.txt", r"Users\Ada"),
    ("rename user_id everywhere", "user_id"),
    ("rename user_id everywhere", "userId"),
    ("rename userId everywhere", "user_id"),
    ("rename userId everywhere", "userid"),
    ("call getUserById()", "GETUSERBYID"),
    ("call getUserById()", "user"),
    ("parse with XMLHttpRequest", "http"),
    ("I don't eat meat", "don't"),
    ("I don’t eat meat", "dont"),
    ("Grace's flat", "grace"),
    ("what's up", "what's"),
    ("l'homme qui rit", "homme"),
    ("l’homme qui rit", "l'homme"),
    ("Mr O'Brien", "obrien"),
    ("an e-mail came", "email"),
    ("she is running", "run"),
    ("Straße nach Köln", "STRASSE"),
    ("Straße nach Köln", "koln"),
    ("cafe\u0301 noir", "café"),
    ("İstanbul", "istanbul"),
    ("Москва зимой", "МОСКВА"),
    ("日本語のテキスト", "日本"),
    ("日本語のテキスト", "語"),
    ("日本語のテキスト", "ト"),
    ("日本語のテキスト", "日本語"),
    ("我喜欢喝绿茶", "绿茶"),
    ("한국어를 배운다", "한국어"),
    ("ฉันกินข้าว", "กินข้าว"),
    ("मुझे हिन्दी पसंद है", "हिन्दी"),
    ("ｆｕｌｌｗｉｄｔｈ ＡＢＣ", "abc"),
    ("room ٤٢", "42"),
    ("I love it 😀", "😀"),
    ("I love it ❤️", "❤"),
    ("I love it ❤", "❤️"),
    ("thumbs 👍🏽", "👍"),
    ("the family 👨‍👩‍👧", "👩"),
    ("the family 👨‍👩‍👧", "👨‍👩‍👧"),
    ("from 🇬🇧 to 🇩🇪", "🇩🇪"),
    ("costs 5€", "€"),
    ("I❤NY", "❤"),
]


@pytest.mark.feature("G11")
@pytest.mark.parametrize(("text", "query"), FOUND)
def test_finds(text: str, query: str) -> None:
    assert FullText(["something else entirely", text]).find(query) == [text]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("a plain c", "C++"),
        ("grade 314", "3.14"),
        ("I will be there", "ill"),
        ("I'll be there", "ill"),
        ("मुझे हिन्दी पसंद है", "हन्दा"),
        ("from 🇬🇧 to 🇩🇪", "🇫🇷"),
        ("thumbs 👍", "👎"),
    ],
)
def test_does_not_find(text: str, query: str) -> None:
    assert FullText([text]).find(query) == []


@pytest.mark.parametrize(
    ("query", "best", "other"),
    [
        ("C++", "we compared C++ with Rust over lunch", "section c of the plan"),
        ("why C++?", "we compared C++ with Rust over lunch", "c c c"),
        (".NET", "the .NET runtime is on the second server now", "a net and a net"),
        ("node.js", "an old node.js box in the corner of the room", "a node here and a node there"),
        ("日本語", "彼女は日本語を話す", "日本に行く"),
    ],
)
def test_the_whole_ranks_above_its_parts(query: str, best: str, other: str) -> None:
    filler = [f"note {number} about nothing" for number in range(20)]
    assert FullText([other, *filler, best]).find(query)[0] == best


def test_stop_words_are_dropped_unless_nothing_else_is_left() -> None:
    assert [term.term for term in query_terms("What does the cat eat?")] == ["cat", "eat"]
    assert [term.term for term in query_terms("who is it")] == ["who", "is", "it"]
    assert [term.term for term in query_terms("was esse ich nicht mit dem Löffel")] == ["nicht", "löffel"]


def test_terms_are_unique_in_order_and_keep_the_word_as_written() -> None:
    assert query_terms("Köln köln TEA e-Mail") == (
        QueryTerm("köln", "Köln"),
        QueryTerm("tea", "TEA"),
        QueryTerm("e mail", "e-Mail"),
        QueryTerm("email", "e-Mail"),
        QueryTerm("mail", "Mail"),
    )
    assert query_terms("«C++»!") == (QueryTerm("cplusplus", "C++"),)
    assert query_terms("👍🏽") == (QueryTerm("u1f44d", "👍"),)
    assert query_terms("日本語") == (QueryTerm("日本", "日本"), QueryTerm("本語", "本語"))


LEGAL = (
    *("", " ", "\0", '"', '""', "'", "*", "^", "-x", "+", "a AND", "OR", "NOT a", "NEAR(a b)", "a:b", "{a}", "(", ")"),
    *("what's \"up", "😀", "\ud800", "a\0b", "...", "a" * 100_000, "a.b" * 30_000, "x y " * 30_000, "語" * 30_000),
)


@pytest.mark.parametrize("query", LEGAL, ids=range(len(LEGAL)))
def test_any_string_is_a_legal_query(query: str) -> None:
    texts = FullText(["a b c x near and or not", "語語"])
    texts.find(query)
    assert len(query_terms(query)) <= MAX_TERMS


def test_no_term_makes_no_phrase() -> None:
    assert phrases(query_terms("?! …")) == []


def test_a_quote_in_a_term_cannot_leave_its_phrase() -> None:
    assert [quoted(one) for one in phrases([QueryTerm('a" OR "b', "a")])] == ['"a"" OR ""b"']


def test_each_term_is_one_phrase() -> None:
    assert phrases(query_terms("e-Mail 語")) == [
        Phrase("e mail"),
        Phrase("email"),
        Phrase("mail"),
        Phrase("語", prefix=True),
    ]


@pytest.mark.slow
def test_no_character_is_lost_between_us_and_the_tokenizer() -> None:
    """Every term that any single character makes is exactly one token for FTS5, so both sides cut alike."""
    tokenizer = apsw.Connection(":memory:").fts5_tokenizer("unicode61", ["remove_diacritics", "2"])
    # Planes 4 to 13 are empty, and the private ones are all alike.
    for first in (*range(0x80, 0x33000, 0x1000), 0xE0000, 0xF0000, 0xF8000, 0x10F000):
        terms = index_terms(" ".join(map(chr, range(first, first + 0x1000))))
        text = terms.encode()
        tokens = tokenizer(text, apsw.FTS5_TOKENIZE_DOCUMENT, None, include_offsets=True)
        assert [text[int(start) : int(end)].decode() for start, end, *_ in tokens] == terms.split()


def test_every_letter_digit_and_pictograph_makes_a_term() -> None:
    telling = {"Lu", "Ll", "Lt", "Lo", "Nd", "So"}
    for code in range(sys.maxunicode):
        if unicodedata.category(chr(code)) in telling:
            composed = unicodedata.normalize("NFKC", chr(code))
            assert index_terms(chr(code)) or telling.isdisjoint(map(unicodedata.category, composed)), hex(code)


ENGLISH = (
    "Yesterday I went to the market with Grace and we bought apples, pears and some bread for dinner. She doesn't like "
    "mushrooms, so I left them out of the soup. Tomorrow we're going to visit her mother in Lyon, who has just moved "
    "into a new flat near the river; I must remember to bring the blue vase!"
)


def cost(call: Callable[[], object]) -> float:
    """Processor seconds of one call: the best of several rounds, since others share the machine."""
    rounds: list[float] = []
    for _ in range(10):
        begun = time.process_time()
        for _ in range(200):
            call()
        rounds.append((time.process_time() - begun) / 200)
    return min(rounds)


def test_indexing_a_message_costs_little_more_than_finding_its_words() -> None:
    """A ratio holds on any machine: 300 characters may cost 40 µs where the yardstick costs 5."""

    def yardstick() -> object:
        return " ".join([word.strip(".,;!").lower() for word in ENGLISH.split()])

    assert cost(lambda: index_terms(ENGLISH)) < 8 * cost(yardstick)


@given(st.text(st.characters(max_codepoint=127), max_size=60) | st.text("aZ9.+#'@,- ", max_size=60))
def test_plain_letters_are_split_in_the_same_way_beside_those_of_other_scripts(text: str) -> None:
    assert [*located_pieces(text), *located_pieces("é")] == [*located_pieces(f"{text} é")]


@given(st.text("az09", min_size=1, max_size=2 * MAX_WORD))
def test_a_plain_word_has_the_forms_of_the_same_word_with_a_capital(word: str) -> None:
    # Only a word in lower case takes the short way.
    assert analyse(word[:MAX_WORD]) == analyse(word[:MAX_WORD].capitalize())
    assert analyse(word).parts == (word[:MAX_WORD],)


_ODD_WORDS = [
    *("a" * 99, "b" * 100, "c" * 101, "D" * 250, "x.y", "don't", "C#,"),
    *("(.NET)", "node.js.", "--", "fooBar!", "3,000"),
]


@example(" " * 300)
@given(
    st.text(st.characters(max_codepoint=127), max_size=60)
    | st.text("aZ9.+#'@,-:)\" ", max_size=60)
    | st.lists(st.sampled_from(_ODD_WORDS), max_size=6).map(" ".join)
)
def test_plain_letters_have_the_same_terms_beside_those_of_other_scripts(text: str) -> None:
    """Text in ASCII is split at its spaces first, and other text by the pattern alone."""
    assert f"tea {index_terms(text)}".rstrip() + " é" == index_terms(f"tea {text} é")
