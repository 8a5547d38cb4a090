"""Finds which of many texts may contain one of some literals, by looking at each distinct word once."""

import re
from collections.abc import Iterable, Iterator, Sequence

#: A text that is longer is not looked at with others, and a group has fewer characters and texts than these.
_LONG = 20_000
_GROUP = 200_000
_MOST = 1_000


class WordLook:
    """Tells which of many texts may contain one of some literals, in any case.

    Few of the words of a text are new, so to search the distinct words of many texts takes a fraction of the time of
    searching each text. A word is what is between white space; where a literal has spaces, its most telling part
    counts. A word also counts where `pattern` is found in it, and where it has at least `longest` characters. With
    `sure`, a word counts only if that is found in it.
    """

    def __init__(
        self,
        literals: Iterable[str],
        pattern: re.Pattern[str] | None = None,
        *,
        sure: re.Pattern[str] | None = None,
        longest: int | None = None,
    ) -> None:
        self._parts = tuple(dict.fromkeys(_part(one) for one in literals))
        self._pattern = pattern
        self._sure = sure
        self._longest = longest

    def telling(self, words: set[str]) -> set[str]:
        """Return those of the words, all of them ASCII, that a literal or a match needs."""
        # In lower case each ASCII character stays one, so both texts have the same places.
        joined = "\n".join(words)
        small = joined.lower()
        places = [place for part in self._parts if part in small for place in _places(part, small)]
        if self._pattern is not None:
            places += [found.start() for found in self._pattern.finditer(joined)]
        told = {_word_at(place, joined) for place in places}
        if self._sure is not None:
            told = {word for word in told if self._sure.search(word)}
        if self._longest is not None and max(map(len, words), default=0) >= self._longest:
            told |= {word for word in words if len(word) >= self._longest}
        return told


def passed_by(looks: Sequence[WordLook], texts: Sequence[str]) -> list[list[bool]]:
    """Return for each look whether each text certainly has nothing of it; a text beyond ASCII may always have."""
    passed = [[True] * len(texts) for _ in looks]
    group: list[int] = []
    size = 0
    for place, text in enumerate(texts):
        if len(text) > _LONG or not text.isascii():
            for found in passed:
                found[place] = False
            continue
        group.append(place)
        size += len(text)
        if size > _GROUP or len(group) == _MOST:
            _look_at_group(looks, texts, group, passed)
            group, size = [], 0
    _look_at_group(looks, texts, group, passed)
    return passed


def _look_at_group(
    looks: Sequence[WordLook], texts: Sequence[str], group: Sequence[int], passed: Sequence[list[bool]]
) -> None:
    words = set(" ".join([texts[place] for place in group]).split())
    told = [look.telling(words) for look in looks]
    for place in group if any(told) else ():
        own = texts[place].split()
        for telling, found in zip(told, passed, strict=True):
            found[place] = telling.isdisjoint(own)


def _part(literal: str) -> str:
    """Return a part of a literal that is inside one word of each text that contains it: one with signs is rare."""
    return max(literal.lower().split(), key=lambda part: (not part.isalnum(), len(part)))


def _places(part: str, small: str) -> Iterator[int]:
    """Yield a place in each word with the part."""
    at = small.find(part)
    while at >= 0:
        yield at
        after = small.find("\n", at)
        at = small.find(part, after) if after >= 0 else -1


def _word_at(place: int, joined: str) -> str:
    after = joined.find("\n", place)
    return joined[joined.rfind("\n", 0, place) + 1 : after if after >= 0 else len(joined)]
