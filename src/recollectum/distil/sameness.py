"""Sameness: whether two statements say the same, or one of them has a number, a name or a denial of its own."""

import re
from dataclasses import dataclass

from recollectum.text.similarity import fingerprint
from recollectum.text.stopwords import STOP_WORDS
from recollectum.text.terms import index_terms

#: From here on two texts are one statement, unless one of them has something of its own.
SAME = 0.8

# The first word of a sentence has a capital whatever it is.
_NAMED = re.compile(r"(?<!\A)(?<![.!?…\n] )(?<!\n)\b[^\W\d_a-zß-öø-ÿ]\w+|\w*\d\w*|\S+@\S+")
_DENYING = """
not no never none neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt
shouldnt havent hasnt hadnt aint used former formerly ex longer anymore stopped quit hate hates dislike dislikes
"""
_TELLING_AGAIN = """
person user owner told mentioned mention said noted note notes remember remembered recall know known memory memories
according stated shared already earlier previously yes okay ok sure youre youve since
"""
#: Words that turn a statement into another one, however many the two share.
_TURNS = frozenset(_DENYING.split())
#: How statements about a person begin, and how they are repeated to them: none of it is news.
_REPORTING = frozenset(_TELLING_AGAIN.split())


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of a text, and those that make it another one."""

    terms: frozenset[str]
    named: frozenset[str]
    turns: frozenset[str]

    @property
    def telling(self) -> frozenset[str]:
        """The terms that carry what it says."""
        return self.terms - STOP_WORDS - _REPORTING


def words_of(text: str) -> Words:
    """The words of a text."""
    terms = frozenset(index_terms(text).split())
    named = frozenset(index_terms(" ".join(_NAMED.findall(text))).split())
    return Words(terms, named, terms & _TURNS)


def adds(one: Words, other: Words) -> bool:
    """Whether the one has a number, a name or a denial that the other has not, or drops a denial of it."""
    return bool(one.named - other.terms) or one.turns != other.turns


def alike(one: Words, other: Words) -> bool:
    """Whether two texts share nearly all their words and neither has something of its own."""
    fewer, more = sorted((len(one.terms), len(other.terms)))
    # The quick answer for most pairs: so unequal in length, they cannot share enough.
    if fewer < SAME * more:
        return False
    shared = len(one.terms & other.terms)
    union = fewer + more - shared
    return bool(union) and shared >= SAME * union and not adds(one, other) and not adds(other, one)


def same(one: str, other: str) -> bool:
    """Whether two statements say the same, so that knowing both is knowing one."""
    return fingerprint(one) == fingerprint(other) or alike(words_of(one), words_of(other))


def supported(content: str, source: str) -> bool:
    """Whether what is claimed is made of the words it is said to come from.

    A reader that was talked into something can still quote a harmless sentence for it.
    """
    claimed, given = words_of(content), words_of(source)
    telling = claimed.telling
    if not telling or any(term not in given.terms for term in telling if any(map(str.isdigit, term))):
        return False
    stems = {term[:4] for term in given.terms}
    found = sum(term in given.terms or (len(term) >= 4 and term[:4] in stems) for term in telling)
    return 2 * found >= len(telling)
