"""When two learnings are one, and what a file and a vault that both changed come to."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date

from recollectum.domain.learning import Clash, Learning, Line
from recollectum.domain.memory import Kind
from recollectum.policy.learning_lines import Pairing, digest
from recollectum.text.learnings_file import Entry, as_shown
from recollectum.text.similarity import fingerprint, jaccard

#: The share of terms from which two learnings of one category are the same.
SAME = 0.8

_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_NEGATED = re.compile(r"n['’]t$")
# One of these more or less turns a rule into another one, however many words the two share.
_TURNING_WORDS = """
above after allow always arent avoid before below cannot cant deny didnt disable disabled doesnt dont enable enabled
except false first isnt last least less more most mustnt neither never no nobody none nor not nothing nowhere off on
only shouldnt stop true unless without wont yes
kein keine nicht nie ohne jamais non pas sans nunca sin
"""
_TURNING = frozenset(_TURNING_WORDS.split())
_Says = tuple[Kind | None, str]


@dataclass(slots=True)
class Merge:
    """What has to be done on both sides; entries are named by their place among the entries."""

    #: Entries that are new learnings.
    added: list[int] = field(default_factory=list[int])
    #: Entries that say something else than their learning does.
    edited: dict[int, str] = field(default_factory=dict[int, str])
    #: Learnings whose line is gone.
    forgotten: list[str] = field(default_factory=list[str])
    #: Entries that show a learning as it is, or as it has to be shown from now on.
    standing: dict[int, str] = field(default_factory=dict[int, str])
    #: Days that were written by hand, by learning.
    days: dict[str, date] = field(default_factory=dict[str, date])
    #: Entries whose learning is gone, or stands in another line.
    dropped: set[int] = field(default_factory=set[int])
    #: Learnings that have no line yet.
    unseen: list[str] = field(default_factory=list[str])
    #: What changed on both sides, by the place of the entry or by the learning that comes back.
    clashes: dict[int | str, Clash] = field(default_factory=dict[int | str, Clash])


def is_same(one: str, other: str) -> bool:
    """Whether two learnings of one category say the same: most terms shared, no number or negation apart."""
    if fingerprint(one) == fingerprint(other):
        return True
    return jaccard(one, other) >= SAME and _telling(one) == _telling(other)


def _telling(text: str) -> Counter[str]:
    words = (word.casefold() for word in _WORD.findall(text))
    turning = ("not" if _NEGATED.search(word) else word for word in words)
    return Counter(_NUMBER.findall(text)) + Counter(word for word in turning if word in _TURNING)


def merge(
    base: Sequence[Line],
    entries: Sequence[Entry],
    known: Mapping[str, Learning],
    before: Mapping[str, str],
    today: date,
) -> Merge:
    """What became of each line since the last sync; `before` has the text that each line of `base` had."""
    done = Merge()
    pairs = Pairing(base, entries).paired(known, before)
    for number, line in enumerate(base):
        place = pairs.get(number)
        if place is None:
            _line_gone(done, line, known.get(line.memory_id))
        else:
            _line_there(done, line, place, entries[place], known.get(line.memory_id))
    places = [place for place, entry in enumerate(entries) if entry.category and place not in pairs.values()]
    _new_lines(done, places, entries, known, today)
    shown = {*done.standing.values(), *done.edited.values(), *done.forgotten}
    done.unseen = [one for one in known if one not in shown]
    return done


def _line_gone(done: Merge, line: Line, learning: Learning | None) -> None:
    if learning is None:
        return
    if _differs(line, learning.category, digest(learning.text)):
        done.clashes[learning.id] = Clash(learning.id, None, "removed in the file and changed in the vault")
    else:
        done.forgotten.append(learning.id)


def _line_there(done: Merge, line: Line, place: int, entry: Entry, learning: Learning | None) -> None:
    rewritten = _differs(line, entry.category, digest(entry.text))
    if learning is None:
        if rewritten:
            done.clashes[place] = Clash(line.memory_id, entry.line, "changed in the file and forgotten in the vault")
            done.added.append(place)
        else:
            done.dropped.add(place)
        return
    mine = digest(learning.text)
    agreed = (entry.category, digest(entry.text)) == (learning.category, mine)
    if rewritten and not agreed and _differs(line, learning.category, mine):
        done.clashes[place] = Clash(learning.id, entry.line, "changed in the file and in the vault")
        done.added.append(place)
        return
    if rewritten and not agreed:
        done.edited[place] = learning.id
    else:
        done.standing[place] = learning.id
    if entry.day is not None and entry.day != line.day:
        done.days[learning.id] = max(entry.day, learning.day) if learning.day != line.day else entry.day


def _new_lines(
    done: Merge, places: Iterable[int], entries: Sequence[Entry], known: Mapping[str, Learning], today: date
) -> None:
    """Lines that were not there before: one that says what a learning says already is that learning."""
    taken = {*done.standing.values(), *done.edited.values()}
    said: dict[_Says, str] = {(one.category, fingerprint(as_shown(one.text))): one.id for one in known.values()}
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
