"""Three-way merge of a changed LEARNINGS.md with a changed vault, line by line against the last sync."""

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import field
from datetime import date
from hashlib import blake2b

from recollectum.domain.learning import Learning, LearningConflict, Line
from recollectum.domain.memory import Kind
from recollectum.domain.records import dataclass
from recollectum.text.terms.similarity import fingerprint, jaccard
from recollectum.vault.learnings.document import LearningEntry, strip_line_ends

#: The share of common terms from which a new line counts as an edited old one.
REWRITE_SIMILARITY = 0.3
#: Above this many pairs nobody edited single lines, and comparing them all would take seconds.
_MOST_COMPARED = 20_000
_DIGEST_BYTES = 16


def line_digest(text: str) -> str:
    """Return the digest by which a text is recognised; it is as private as the text itself."""
    return blake2b(strip_line_ends(text).encode(), digest_size=_DIGEST_BYTES).hexdigest()


class LinePairing:
    """Matches the lines of the last sync with the entries of a file."""

    def __init__(self, base: Sequence[Line], entries: Sequence[LearningEntry]) -> None:
        self._lines = dict(enumerate(base))
        # Entries below other headings belong to the person.
        self._entries = {place: entry for place, entry in enumerate(entries) if entry.category}
        self._digests = {place: line_digest(entry.text) for place, entry in self._entries.items()}
        self._pairs: dict[int, int] = {}

    def paired(self, known: Mapping[str, Learning], before: Mapping[str, str]) -> dict[int, int]:
        """Match each line with the entry that it has become, surest match first; return the entries' positions."""
        self._match(lambda line: (line.category, line.digest, line.day), self._whole)
        self._match(lambda line: (line.category, line.digest), lambda place: self._whole(place)[:2])
        self._match(lambda line: line.digest, lambda place: self._digests[place])

        def now(line: Line) -> Hashable:
            learning = known.get(line.memory_id)
            return (learning.category, line_digest(learning.text)) if learning else None

        # Written by a sync that was interrupted before it could record it.
        self._match(now, lambda place: self._whole(place)[:2])
        self._match_alike(before)
        return self._pairs

    def _whole(self, place: int) -> tuple[Kind | None, str, date | None]:
        entry = self._entries[place]
        return entry.category, self._digests[place], entry.day

    def _match(self, of_line: Callable[[Line], Hashable], of_place: Callable[[int], Hashable]) -> None:
        waiting: dict[Hashable, list[int]] = {}
        for number, line in reversed(self._lines.items()):
            waiting.setdefault(of_line(line), []).append(number)
        for place in list(self._entries):
            if numbers := waiting.get(of_place(place)):
                self._pair(numbers.pop(), place)

    def _match_alike(self, before: Mapping[str, str]) -> None:
        if len(self._lines) * len(self._entries) > _MOST_COMPARED:
            return
        scores = [
            (score, number, place)
            for number, line in self._lines.items()
            for place, entry in self._entries.items()
            if entry.category is line.category
            and (score := jaccard(before.get(line.memory_id, ""), entry.text)) >= REWRITE_SIMILARITY
        ]
        for _, number, place in sorted(scores, key=lambda one: (-one[0], one[1], one[2])):
            if number in self._lines and place in self._entries:
                self._pair(number, place)

    def _pair(self, number: int, place: int) -> None:
        self._pairs[number] = place
        del self._lines[number], self._entries[place]


#: The share of common terms from which two learnings of one category are the same.
SAME_SIMILARITY = 0.8
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEGATED = re.compile(r"n['’]t$")
# One of these words more or less changes a rule, however many words the two share.
_POLARITY_WORDS = """
above after allow always arent avoid before below cannot cant deny didnt disable disabled doesnt dont enable enabled
except false first isnt last least less more most mustnt neither never no nobody none nor not nothing nowhere off on
only shouldnt stop true unless without wont yes
kein keine nicht nie ohne jamais non pas sans nunca sin
"""
_POLARITY = frozenset(_POLARITY_WORDS.split())
_Says = tuple[Kind | None, str]


@dataclass(slots=True)
class LearningsMerge:
    """The changes that both sides need; entries are numbered by their order in the file."""

    #: Entries that are new learnings.
    added: list[int] = field(default_factory=list[int])
    #: Entries whose text differs from their learning.
    edited: dict[int, str] = field(default_factory=dict[int, str])
    #: Learnings whose line was removed.
    forgotten: list[str] = field(default_factory=list[str])
    #: Entries that show a learning, as it is or as it must be shown from now on.
    standing: dict[int, str] = field(default_factory=dict[int, str])
    #: Days that were written by hand, by learning.
    days: dict[str, date] = field(default_factory=dict[str, date])
    #: Entries whose learning is gone, or is shown by another line.
    dropped: set[int] = field(default_factory=set[int])
    #: Learnings without a line.
    unseen: list[str] = field(default_factory=list[str])
    #: Conflicts: changes on both sides, by the entry's position or by the learning that comes back.
    clashes: dict[int | str, LearningConflict] = field(default_factory=dict[int | str, LearningConflict])


def is_same_learning(one: str, other: str) -> bool:
    """Return whether two learnings of one category say the same: most terms shared, no number or negation differs."""
    if fingerprint(one) == fingerprint(other):
        return True
    return jaccard(one, other) >= SAME_SIMILARITY and _numbers_and_polarity(one) == _numbers_and_polarity(other)


def _numbers_and_polarity(text: str) -> Counter[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    turning = ("not" if _NEGATED.search(word) else word for word in words)
    return Counter(_NUMBER.findall(text)) + Counter(word for word in turning if word in _POLARITY)


def merge_learnings(
    base: Sequence[Line],
    entries: Sequence[LearningEntry],
    known: Mapping[str, Learning],
    before: Mapping[str, str],
    today: date,
) -> LearningsMerge:
    """Return what became of each line since the last sync; `before` holds the text of each line of `base`."""
    done = LearningsMerge()
    pairs = LinePairing(base, entries).paired(known, before)
    for number, line in enumerate(base):
        place = pairs.get(number)
        if place is None:
            _merge_removed_line(done, line, known.get(line.memory_id))
        else:
            _merge_present_line(done, line, place, entries[place], known.get(line.memory_id))
    places = [place for place, entry in enumerate(entries) if entry.category and place not in pairs.values()]
    _merge_new_lines(done, places, entries, known, today)
    shown = {*done.standing.values(), *done.edited.values(), *done.forgotten}
    done.unseen = [one for one in known if one not in shown]
    return done


def _merge_removed_line(done: LearningsMerge, line: Line, learning: Learning | None) -> None:
    if learning is None:
        return
    if _differs(line, learning.category, line_digest(learning.text)):
        done.clashes[learning.id] = LearningConflict(learning.id, None, "removed in the file and changed in the vault")
    else:
        done.forgotten.append(learning.id)


def _merge_present_line(
    done: LearningsMerge, line: Line, place: int, entry: LearningEntry, learning: Learning | None
) -> None:
    rewritten = _differs(line, entry.category, line_digest(entry.text))
    if learning is None:
        if rewritten:
            done.clashes[place] = LearningConflict(
                line.memory_id, entry.line, "changed in the file and forgotten in the vault"
            )
            done.added.append(place)
        else:
            done.dropped.add(place)
        return
    mine = line_digest(learning.text)
    agreed = (entry.category, line_digest(entry.text)) == (learning.category, mine)
    if rewritten and not agreed and _differs(line, learning.category, mine):
        done.clashes[place] = LearningConflict(learning.id, entry.line, "changed in the file and in the vault")
        done.added.append(place)
        return
    if rewritten and not agreed:
        done.edited[place] = learning.id
    else:
        done.standing[place] = learning.id
    if entry.day is not None and entry.day != line.day:
        done.days[learning.id] = max(entry.day, learning.day) if learning.day != line.day else entry.day


def _merge_new_lines(
    done: LearningsMerge,
    places: Iterable[int],
    entries: Sequence[LearningEntry],
    known: Mapping[str, Learning],
    today: date,
) -> None:
    """Handle lines that were not there before; a line that repeats a known learning is matched with it."""
    taken = {*done.standing.values(), *done.edited.values()}
    said: dict[_Says, str] = {(one.category, fingerprint(strip_line_ends(one.text))): one.id for one in known.values()}
    fresh: set[_Says] = set()
    for place in places:
        entry = entries[place]
        says = (entry.category, fingerprint(entry.text))
        same = said.get(says)
        if same is None and says not in fresh:
            done.added.append(place)
            fresh.add(says)
        elif same is None or same in taken:
            done.dropped.add(place)
        else:
            done.standing[place] = same
            taken.add(same)
            done.forgotten = [one for one in done.forgotten if one != same]
        if same is not None:
            done.days[same] = max(entry.day or today, known[same].day)


def _differs(line: Line, category: Kind | None, mark: str) -> bool:
    return (line.category, line.digest) != (category, mark)
