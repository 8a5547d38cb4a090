"""Turns a text into index terms and a question into query terms with one tokeniser, and expands kinds of things."""

from collections.abc import Iterable, Iterator
from string import ascii_lowercase, digits, punctuation
from typing import NamedTuple

from recollectum.domain.records import dataclass
from recollectum.text.terms.stopwords import STOP_WORDS
from recollectum.text.terms.words import (
    MAX_WORD,
    WordForms,
    analyse,
    contracted,
    is_unspaced,
    located_pieces,
    pairs,
    plain,
    spellings,
)

_KINDS = """
sibling: brother sister
parent: mother father mom dad mum
grandparent: grandmother grandfather grandma grandpa
relative: cousin aunt uncle nephew niece grandmother grandfather
kid child: son daughter
spouse: husband wife
pet: dog cat puppy kitten
vehicle: car truck motorcycle van
instrument: guitar piano violin drum keyboard ukulele saxophone flute
furniture: sofa couch table chair bed desk mattress bookshelf
shoe footwear: sneakers boots sandals
clothes clothing: shirt dress jacket jeans sweater coat
jewellery jewelry: necklace ring bracelet earrings
appliance: fridge oven blender microwave dishwasher toaster
sport: football soccer basketball tennis swimming running
exercise workout: gym yoga running jogging pilates
doctor: physician dentist dermatologist therapist
beverage drink: coffee tea beer wine juice
dessert: cake cookies pie brownies
transport transportation: bus train taxi subway bike
"""


def _read(table: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for line in table.strip().splitlines():
        names, _, members = line.partition(":")
        for name in names.split():
            found[name] = found[_plural(name)] = tuple(members.split())
    return found


def _plural(name: str) -> str:
    if name == "child":
        return "children"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


_MEMBERS = _read(_KINDS)


def members(word: str) -> tuple[str, ...]:
    """Return the members of a kind; nothing if the word, in lower case, names none."""
    return _MEMBERS.get(word, ())


#: A query may be any text, but no question needs more terms than this to find its answer.
MAX_TERMS = 64
_LONGEST_QUERY = 10_000
_MAX_PHRASE = 16
_SHORTEST_NUMBER = 4
#: Signs that are no part of the word after them, and of the word before them: .NET, C++ and F# have one that is.
_BEFORE = "".join(sorted(set(punctuation) - set(".")))
_BEHIND = "".join(sorted(set(punctuation) - set("+#")))
_SMALL = f"{ascii_lowercase}{digits} ".encode()
#: So many words of one write are remembered.
_MOST_WORDS = 50_000
_UNJOINED = b"-._@/\\:',"
#: How the dot before a name such as .NET is spelled.
_SPELLED_DOT = "dot"


@dataclass(frozen=True, slots=True)
class QueryTerm:
    """One thing that a query searches for: a term, or several adjacent ones, and the word it came from."""

    term: str
    #: The word as it is written in the query.
    word: str


def index_terms(text: str) -> str:
    """Return the terms of a text, separated by spaces, in the order for the index."""
    if _is_of_terms(text):
        return text
    words = _short_words(text)
    if words is not None:
        # As `_terms`, without a call for each word.
        terms = [word if word.islower() and word.isalnum() else _spelled(word) for word in words]
        return " ".join(filter(None, terms))
    if text.isascii():
        return " ".join(map(_indexed, spellings(text)))
    return " ".join(
        [word if word.isascii() and word.islower() and word.isalnum() else _indexed(word) for word in spellings(text)]
    )


class IndexTerms:
    """Makes the index terms of many texts: those of each distinct word once, because few of their words are new."""

    def __init__(self) -> None:
        self._known = _WordTerms()

    def __call__(self, text: str) -> str:
        """Return what `index_terms` does."""
        if _is_of_terms(text):
            return text
        words = _short_words(text)
        return index_terms(text) if words is None else " ".join(filter(None, map(self._known.__getitem__, words)))


class _WordTerms(dict[str, str]):
    """The terms of words, each made once."""

    def __missing__(self, word: str) -> str:
        terms = _terms(word)
        if len(self) < _MOST_WORDS:
            self[word] = terms
        return terms


def may_have(text: str, terms: frozenset[str]) -> frozenset[str]:
    """Return which of the terms may be among those of a text; the others are not. Faster than `index_terms`."""
    if not text.isascii() or "+" in text or "#" in text:
        # Folding changes letters, and these symbols are spelled out.
        return terms
    # A term is a run of letters and digits, or several runs joined.
    joined = text.lower().encode().translate(None, _UNJOINED).decode()
    return frozenset([term for term in terms if term in joined or term.startswith(_SPELLED_DOT)])


def _short_words(text: str) -> list[str] | None:
    """Return the words of an ASCII text, none of which is longer than a term; None for any other text."""
    if not text.isascii():
        return None
    # A space ends every piece, and splitting is faster than the pattern.
    words = text.split()
    short = len(text) - 2 * len(words) < MAX_WORD - 1 or max(map(len, words), default=0) <= MAX_WORD
    return words if short else None


def _is_of_terms(text: str) -> bool:
    """Return whether a text certainly equals its terms: small letters and digits, with single spaces in between."""
    if text.encode("utf-8", "surrogatepass").translate(None, _SMALL) or "  " in text or text[:1] == " ":
        return False
    at = -1
    while len(text) - at > MAX_WORD + 1:
        # In so many characters after a space there is another one, or a word that is too long.
        at = text.rfind(" ", at + 1, at + MAX_WORD + 2)
        if at < 0:
            return False
    return text[-1:] != " "


def _terms(word: str) -> str:
    """Return the terms of one of those words: most are plain lower-case letters, and equal their term."""
    return word if word.islower() and word.isalnum() else _spelled(word)


def _spelled(word: str) -> str:
    """Return the terms of an ASCII text without spaces."""
    bare = word.lstrip(_BEFORE).rstrip(_BEHIND)
    if term := plain(bare) or contracted(bare):
        return term
    return " ".join(map(_indexed, spellings(word)))


def _indexed(found: str) -> str:
    if is_unspaced(found[0]):
        # The last character is also a term, so that a query of one character finds every text that has it by prefix.
        # Indexing each character alone would double the index.
        return " ".join([*pairs(found), found[-1]])
    if term := plain(found) or contracted(found):
        return term
    piece = analyse(found)
    return " ".join(piece.parts + piece.wholes)


def query_terms(query: str) -> tuple[QueryTerm, ...]:
    """Return the terms of a query, in order and without duplicates; stop words only if there is nothing else."""
    telling: dict[str, QueryTerm] = {}
    silent: dict[str, QueryTerm] = {}
    for term in _all_sought(query[:_LONGEST_QUERY]):
        chosen = silent if term.term in STOP_WORDS else telling
        chosen.setdefault(term.term, term)
        if len(telling) == MAX_TERMS:
            break
    return tuple((telling or silent).values())[:MAX_TERMS]


def expand_kinds(terms: tuple[QueryTerm, ...]) -> tuple[QueryTerm, ...]:
    """Return the terms, followed by the members of each kind that one of them names."""
    found = {term.term: term for term in terms}
    for term in terms:
        for member in members(term.term):
            found.setdefault(member, QueryTerm(member, member))
    return tuple(found.values())[:MAX_TERMS]


def _all_sought(query: str) -> Iterator[QueryTerm]:
    for piece, word in located_pieces(query):
        yield from _sought(piece, word)


def _sought(piece: WordForms, word: str) -> Iterator[QueryTerm]:
    if piece.run:
        for term in dict.fromkeys(pairs(piece.run) or [piece.run]):
            yield QueryTerm(term, _within(word, term))
        return
    # The parts of a compound are adjacent in the index, however they were joined there.
    named_by_symbols = len(piece.parts) == 1 and piece.wholes
    if not (named_by_symbols and len(piece.parts[0]) == 1):
        # "c" alone does not help a search for C++, but "google" helps one for Google+.
        yield QueryTerm(" ".join(piece.parts[:_MAX_PHRASE]), word)
    for whole in piece.wholes:
        yield QueryTerm(whole, word)
    if piece.separable:
        for part in filter(_stands_alone, dict.fromkeys(piece.parts)):
            yield QueryTerm(part, _within(word, part))


def _within(word: str, term: str) -> str:
    """Return the term as the word spells it, or the whole word if it spells it differently."""
    place = word.lower().find(term)
    return word if place < 0 else word[place : place + len(term)]


def _stands_alone(part: str) -> bool:
    """Return whether a part of a compound is worth searching alone: `example` is, the `14` of `3.14` is not."""
    return len(part) >= _SHORTEST_NUMBER or (len(part) > 1 and part.isalpha())


class Phrase(NamedTuple):
    """Words to search for in this order, adjacent."""

    words: str
    #: Whether the last word is a prefix.
    prefix: bool = False


def phrases(terms: Iterable[QueryTerm]) -> list[Phrase]:
    """Return each term as a phrase; one letter of a script without spaces is the prefix of a pair of letters."""
    return [Phrase(term.term, prefix=len(term.term) == 1 and is_unspaced(term.term)) for term in terms]
