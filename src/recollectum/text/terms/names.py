"""Finds the names in a text, which are runs of capitalised words, and whether a text has a name whole.

"Ada Berg" is not whole in "Ada Berg-Holm" or "Ada Maria Berg", and "Holm" is not whole in "a street in New Holm". A
name of one word may go on: "Ada" is whole in "Ada Berg".
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from recollectum.text.terms.stopwords import STOP_WORDS

_SENTENCE = re.compile(r"(?<=[.!?;:,])\s+")
_WORD = re.compile(r"[\w&]+(?:[-'’.]\w+)*")
#: Words inside a name: "University of Oslo". What is before or after one may be a name by itself: "the CEO of Acme".
_INNER = frozenset(["of", "the", "de", "von", "van", "der", "di", "du", "&"])
_TITLES = frozenset(["mr", "mrs", "ms", "miss", "dr", "prof", "professor", "doctor", "sir", "lady", "herr", "frau"])
_POSSESSIVE = ("'s", "’s")


class Name(NamedTuple):
    """A run of capitalised words, in lower case."""

    words: tuple[str, ...]
    #: Whether its first word is the first of a sentence, which has a capital in any case.
    initial: bool = False

    def has_whole(self, other: "Name") -> bool:
        """Return whether the other name is in this one, and is not a part of a longer name."""
        size = len(other.words)
        places = (
            place for place in range(len(self.words) - size + 1) if self.words[place : place + size] == other.words
        )
        return any(not self._goes_before(place) and not self._goes_on(place, size) for place in places)

    def _goes_before(self, place: int) -> bool:
        return place > int(self.initial) and self.words[place - 1] not in _INNER

    def _goes_on(self, place: int, size: int) -> bool:
        return size > 1 and place + size < len(self.words) and self.words[place + size] not in _INNER


def find_names(text: str) -> list[Name]:
    """Return the names in a text, in order."""
    return [name for sentence in _SENTENCE.split(text) for name in _names(sentence)]


def has_whole_names(text: str, names: Sequence[Name]) -> bool:
    """Return whether a text has each of these names whole."""
    low = text.lower()
    if any(word not in low for name in names for word in name.words):
        return False
    found = find_names(text)
    return all(any(one.has_whole(name) for one in found) for name in names)


def _names(sentence: str) -> Iterator[Name]:
    run: list[str] = []
    inner: list[str] = []
    initial = False
    for place, word in enumerate(_WORD.findall(sentence)):
        low = _plain(word)
        if word[0].isupper() and low not in _TITLES and (place or low not in STOP_WORDS):
            initial = initial if run else not place
            run += [*inner, low]
            inner = []
        elif run and low in _INNER:
            inner.append(low)
        else:
            if run:
                yield Name(tuple(run), initial)
            run, inner = [], []
    if run:
        yield Name(tuple(run), initial)


def _plain(word: str) -> str:
    low = word.lower()
    return low[:-2] if low.endswith(_POSSESSIVE) else low
