"""Compares statements for sameness, and reconciles new findings with known memories."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import accumulate

from recollectum.domain.memory import Memory, State
from recollectum.domain.proposal import Act, Finding
from recollectum.domain.records import dataclass
from recollectum.text.terms.analyser import index_terms
from recollectum.text.terms.similarity import fingerprint
from recollectum.text.terms.stopwords import STOP_WORDS
from recollectum.text.tokens import estimate

#: Above this similarity two texts are one statement, unless one of them adds a detail.
SAME = 0.8
#: How much of a text is compared word by word: a statement is short, and every known memory is read each time.
_LONGEST = 8_000
_WORD = re.compile(r"\w++")
_DIGIT = re.compile(r"\d")
_CAPITAL = re.compile(r"[^\W\d_a-zß-öø-ÿ]\w")
# The first word of a sentence has a capital in any case.
_SENTENCE_END = (". ", "! ", "? ", "… ", "\n ", "\n")
_DENYING = """
not no never none neither nor without cannot cant dont doesnt didnt isnt arent wasnt werent wont wouldnt couldnt
shouldnt havent hasnt hadnt aint used former formerly ex longer anymore stopped quit hate hates dislike dislikes
"""
_TELLING_AGAIN = """
person user owner told mentioned mention said noted note notes remember remembered recall know known memory memories
according stated shared already earlier previously yes okay ok sure youre youve since
"""
#: Words that change a statement into another one, however many words the two share.
_TURNS = frozenset(_DENYING.split())
#: How statements about a person begin, and how they are repeated to them: these words add nothing.
_REPORTING = frozenset(_TELLING_AGAIN.split())


@dataclass(frozen=True, slots=True)
class Words:
    """The terms of a text, and those that distinguish it."""

    terms: frozenset[str]
    named: frozenset[str]
    turns: frozenset[str]

    @property
    def telling(self) -> frozenset[str]:
        """Return the terms that carry meaning."""
        return self.terms - STOP_WORDS - _REPORTING


def words_of(text: str) -> Words:
    """Return the words of a text; of a long one those at its start, with a mark that tells it from all others."""
    read = text[:_LONGEST]
    terms = frozenset(index_terms(read).split())
    named = frozenset(index_terms(" ".join(_named(read))).split())
    if len(text) > _LONGEST:
        whole = frozenset((fingerprint(text),))
        terms, named = terms | whole, named | whole
    return Words(terms, named, terms & _TURNS)


def _named(text: str) -> Iterator[str]:
    """Return the names, the words with a digit and the addresses of a text."""
    for found in _WORD.finditer(text):
        start = found.start()
        is_name = start and _CAPITAL.match(text, start) and not text[max(0, start - 2) : start].endswith(_SENTENCE_END)
        if is_name or _DIGIT.search(found[0]):
            yield found[0]
    if "@" in text:
        yield from (token for token in text.split() if "@" in token[1:-1])


def adds_detail(one: Words, other: Words) -> bool:
    """Return whether one has a number, a name or a negation that the other has not, or drops a negation of it."""
    return bool(one.named - other.terms) or one.turns != other.turns


def are_alike(one: Words, other: Words) -> bool:
    """Return whether two texts share nearly all their words and neither adds a detail."""
    fewer, more = sorted((len(one.terms), len(other.terms)))
    # The fast answer for most pairs: with such different lengths, they cannot share enough.
    if fewer < SAME * more:
        return False
    shared = len(one.terms & other.terms)
    union = fewer + more - shared
    return bool(union) and shared >= SAME * union and not adds_detail(one, other) and not adds_detail(other, one)


def says_same(one: str, other: str) -> bool:
    """Return whether two statements say the same, so that one of them is enough."""
    return fingerprint(one) == fingerprint(other) or are_alike(words_of(one), words_of(other))


def is_supported(content: str, source: str) -> bool:
    """Return whether a claim is made of the words of its source.

    A model that was manipulated can still quote a harmless sentence for its claim.
    """
    claimed, given = words_of(content), words_of(source)
    telling = claimed.telling
    if not telling or any(term not in given.terms for term in telling if any(map(str.isdigit, term))):
        return False
    return 2 * len(telling - _missing(telling, given)) >= len(telling)


def adds_name(content: str, source: str) -> bool:
    """Return whether a claim has a name that its source has not: the words may be right, and the place wrong."""
    claimed = words_of(content)
    return bool(_missing(claimed.named & claimed.telling, words_of(source)))


def _missing(terms: frozenset[str], given: Words) -> frozenset[str]:
    """Return the terms that a text does not have, not even in another form."""
    stems = {term[:4] for term in given.terms}
    return frozenset(term for term in terms if term not in given.terms and (len(term) < 4 or term[:4] not in stems))


#: The number of known memories shown to a model beside a window.
OFFERED = 30
#: The tokens that its number and its line add to a memory.
_LINE_TOKENS = 6


def current_memories(known: Sequence[Memory]) -> list[Memory]:
    """Return the memories that hold now: replaced or archived ones neither hide a fact nor are changed by one."""
    return [one for one in known if one.state is State.ACTIVE and one.superseded_by is None]


def most_similar(known: Sequence[Memory], text: str, most: int = OFFERED) -> list[Memory]:
    """Return the memories most similar to a text, then the most important ones; deterministic."""
    read = words_of(text).terms

    def near(memory: Memory) -> float:
        telling = words_of(memory.content).telling
        return len(telling & read) / len(telling) if telling else 0.0

    return sorted(known, key=lambda one: (-near(one), -one.importance, one.id))[:most]


def fit_tokens(memories: Sequence[Memory], tokens: int) -> list[Memory]:
    """Return as many of the first memories as fit into a number of tokens."""
    ends = accumulate(estimate(one.content) + _LINE_TOKENS for one in memories)
    return [one for one, end in zip(memories, ends, strict=True) if end <= tokens]


def reconcile(findings: Sequence[Finding], known: Sequence[Memory]) -> list[Finding]:
    """Return the findings that say something new, each once; one that changes a missing memory becomes an addition."""
    ids = {one.id for one in known}
    said = [(one.id, fingerprint(one.content), words_of(one.content)) for one in known] if findings else []
    new: list[tuple[Finding, Words]] = []
    for found in findings:
        finding = found if ids.issuperset(found.targets) else replace(found, act=Act.ADD, targets=())
        own, words = fingerprint(finding.content), words_of(finding.content)
        # A finding that changes a memory may differ from it by one word, and that word is the point.
        known_already = any(
            own == mark or (id not in finding.targets and are_alike(words, other)) for id, mark, other in said
        )
        if not known_already and not any(_repeats(finding, words, one, other) for one, other in new):
            new.append((finding, words))
            said.append(("", own, words))
    return [finding for finding, _ in new]


def _repeats(finding: Finding, words: Words, before: Finding, said: Words) -> bool:
    """Return whether a finding has the source of one before it and says nothing more."""
    if (finding.act, finding.targets) != (before.act, before.targets) or not words.telling <= said.telling:
        return False
    return not adds_detail(words, said) and any(
        one.message_id == other.message_id and one.start < other.end and other.start < one.end
        for one in finding.spans
        for other in before.spans
    )
