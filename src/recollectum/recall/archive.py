"""Counts the archived memories that match the words of a question, which recall does not serve.

Archived memories are not in the index. The terms of the newest are held in memory, and loaded again only when the
archive may have changed; the database decides which of the matching ones count.
"""

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING

from recollectum.domain.hit import ArchivedMatches, SourceKind
from recollectum.domain.records import dataclass
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Matches, Params, Tx
from recollectum.storage.tables.index import archive as archive_rows
from recollectum.storage.tables.index.archive import ArchiveMark
from recollectum.storage.times import micros
from recollectum.text.terms.analyser import Phrase, QueryTerm, expand_kinds, index_terms, phrases
from recollectum.text.terms.stopwords import STOP_WORDS

if TYPE_CHECKING:
    from recollectum.recall.ranking import ParsedQuestion

#: So many archived memories are compared, the newest ones, each by so many of its characters.
MOST_MEMORIES = 2_000
MOST_CHARACTERS = 1_000
#: A memory matches if it has more than this share of the question's words, counted by inverse document frequency.
_SHARE = 0.4
_MOST_IDS = 10
_MOST_STATES = 64
_Version = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Archive:
    """The terms of the newest archived memories of a vault."""

    mark: ArchiveMark | None = None
    #: The states of the vault in which it is the same.
    states: set[Hashable] = field(default_factory=set[Hashable])
    #: The terms of each memory, each between two spaces, by number and version.
    lines: Mapping[_Version, str] = field(default_factory=dict[_Version, str])
    #: The memories that have a term.
    postings: Mapping[str, list[_Version]] = field(default_factory=dict[str, list[_Version]])

    def having(self, phrase: Phrase, stems: str) -> set[_Version]:
        """Return the memories that have a phrase, given as its stems."""
        first, *others = stems.split() or [""]
        if phrase.prefix:
            return {one for term, listed in self.postings.items() if term.startswith(first) for one in listed}
        found = self.postings.get(first, ())
        return {one for one in found if not others or f" {stems} " in self.lines[one]}


class ArchiveCache:
    """The terms of one vault's archived memories. Safe to use from several threads: at worst they are loaded twice."""

    def __init__(self) -> None:
        self._kept = _Archive()

    def clear(self) -> None:
        """Drop all terms, so that destroyed memories are not even in memory."""
        self._kept = _Archive()

    def count(self, tx: Tx, reading: ClockReading, question: "ParsedQuestion", matches: Matches) -> ArchivedMatches:
        """Return how many archived memories match a question and pass its filters."""
        params = question.within.params
        if not _may_be_memories(params) or all(term.term in STOP_WORDS for term in question.terms):
            return ArchivedMatches()
        archive = self._load(tx, reading)
        matching = _matching(tx, archive, question.terms, matches) if archive.lines else ()
        ids = archive_rows.allowed(tx, (number for number, _ in matching), params) if matching else []
        cut = len(archive.lines) == MOST_MEMORIES
        return ArchivedMatches(count=len(ids), cut=cut, ids=tuple(ids[:_MOST_IDS]))

    def _load(self, tx: Tx, reading: ClockReading) -> _Archive:
        kept, state = self._kept, tx.state
        if state in kept.states and not _is_due(kept, reading):
            return kept
        mark = archive_rows.mark(tx, reading)
        if _is_due(kept, reading) or _has_changed(tx, kept, mark):
            found = _load_archive(tx, reading, mark, kept)
        else:
            found = replace(kept, mark=mark, states=kept.states if len(kept.states) < _MOST_STATES else set())
        found.states.add(state)
        self._kept = found
        return found


def _load_archive(tx: Tx, reading: ClockReading, mark: ArchiveMark, kept: _Archive) -> _Archive:
    """Return the archive as it is now; what it had before is not loaded again."""
    versions = archive_rows.newest(tx, reading, MOST_MEMORIES) if mark.any else []
    lines = _load_lines(tx, versions, kept.lines)
    return _Archive(mark, set(), lines, kept.postings if lines == kept.lines else _to_postings(lines))


def _is_due(kept: _Archive, reading: ClockReading) -> bool:
    """Return whether a deadline has passed since."""
    due = kept.mark.next_due if kept.mark else None
    return due is not None and due <= micros(reading.now)


def _has_changed(tx: Tx, kept: _Archive, mark: ArchiveMark) -> bool:
    """Return whether there may be other memories in the archive than before."""
    before = kept.mark
    if before is None or mark.any != before.any:
        return True
    return mark.any and mark[1:3] != before[1:3] and archive_rows.has_moved(tx, before)


def _may_be_memories(params: Params) -> bool:
    """Return whether the filters of a question allow any memory."""
    sources = params["sources"]
    allowed = not isinstance(sources, str) or SourceKind.MEMORIES in json.loads(sources)
    return allowed and params["session_id"] is None and params["speaker"] is None


def _load_lines(tx: Tx, versions: Sequence[_Version], known: Mapping[_Version, str]) -> dict[_Version, str]:
    """Return the terms of each memory; load only those that are not known."""
    fresh = {number: (number, version) for number, version in versions if (number, version) not in known}
    texts = archive_rows.texts(tx, fresh, MOST_CHARACTERS) if fresh else []
    stems = tx.text.stems(index_terms(text) for _, text in texts)
    loaded = {fresh[number]: f" {terms} " for (number, _), terms in zip(texts, stems, strict=True)}
    return {one: known.get(one) or loaded[one] for one in versions}


def _to_postings(lines: Mapping[_Version, str]) -> dict[str, list[_Version]]:
    postings: dict[str, list[_Version]] = {}
    for one, line in lines.items():
        for term in set(line.split()):
            postings.setdefault(term, []).append(one)
    return postings


def _matching(tx: Tx, archive: _Archive, terms: Sequence[QueryTerm], matches: Matches) -> list[_Version]:
    """Return the memories that have more than two fifths of the words of a question, where rare words weigh more."""
    words: dict[str, list[QueryTerm]] = {}
    for term in terms:
        words.setdefault(term.word.casefold(), []).append(term)
    sought = [phrases(expand_kinds(tuple(alternatives))) for alternatives in words.values()]
    found = [_having_any(tx, archive, alternatives) for alternatives in sought]
    if not any(found):
        return []
    size = matches.chunks + len(archive.lines)
    total = 0.0
    score: dict[_Version, float] = {}
    for alternatives, having in zip(sought, found, strict=True):
        frequency = max(map(matches.frequency, alternatives)) + len(having)
        weight = math.log1p((max(0, size - frequency) + 0.5) / (frequency + 0.5))
        total += weight
        for one in having:
            score[one] = score.get(one, 0.0) + weight
    return [one for one, weight in score.items() if weight > _SHARE * total]


def _having_any(tx: Tx, archive: _Archive, sought: Sequence[Phrase]) -> set[_Version]:
    """Return the memories that have one of the phrases."""
    stems = tx.text.stems(phrase.words for phrase in sought)
    return set[_Version]().union(*map(archive.having, sought, stems))
