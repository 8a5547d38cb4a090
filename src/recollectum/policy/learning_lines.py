"""Which line of a file is which line of the last sync: by its text, by its new text, or by likeness."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from datetime import date
from hashlib import blake2b

from recollectum.domain.learning import Learning, Line
from recollectum.domain.memory import Kind
from recollectum.text.learnings_file import Entry, as_shown
from recollectum.text.similarity import jaccard

#: The share of terms from which a new line is taken for an old one that was rewritten.
REWRITTEN = 0.3
#: Past this many pairs nobody rewrote single lines, and comparing them all would take seconds.
_MOST_COMPARED = 20_000
_DIGEST_BYTES = 16


def digest(text: str) -> str:
    """The name under which a text is known again; as private as the text itself."""
    return blake2b(as_shown(text).encode(), digest_size=_DIGEST_BYTES).hexdigest()


class Pairing:
    """The lines of the last sync beside the entries of a file, until each has found the other."""

    def __init__(self, base: Sequence[Line], entries: Sequence[Entry]) -> None:
        self._lines = dict(enumerate(base))
        # What stands below another heading is the person's own.
        self._entries = {place: entry for place, entry in enumerate(entries) if entry.category}
        self._digests = {place: digest(entry.text) for place, entry in self._entries.items()}
        self._pairs: dict[int, int] = {}

    def paired(self, known: Mapping[str, Learning], before: Mapping[str, str]) -> dict[int, int]:
        """The place of the entry that each line has become, surest first."""
        self._match(lambda line: (line.category, line.digest, line.day), self._whole)
        self._match(lambda line: (line.category, line.digest), lambda place: self._whole(place)[:2])
        self._match(lambda line: line.digest, lambda place: self._digests[place])

        def now(line: Line) -> Hashable:
            learning = known.get(line.memory_id)
            return (learning.category, digest(learning.text)) if learning else None

        # Written by a sync that was cut short before it could note so.
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
            and (score := jaccard(before.get(line.memory_id, ""), entry.text)) >= REWRITTEN
        ]
        for _, number, place in sorted(scores, key=lambda one: (-one[0], one[1], one[2])):
            if number in self._lines and place in self._entries:
                self._pair(number, place)

    def _pair(self, number: int, place: int) -> None:
        self._pairs[number] = place
        del self._lines[number], self._entries[place]
