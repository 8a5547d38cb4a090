"""Which rows a purge covers: those that are named, and what came from them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.storage.port import Tx
from recollectum.storage.tables import erased_lineage as lineage
from recollectum.storage.tables import notes, quarantines, transcripts
from recollectum.storage.tables.erased_items import Rank
from recollectum.vault.purge_request import IMPORTED, PurgeKind, PurgeRequest

_NONE: frozenset[str] = frozenset()
_QUARANTINE = "quarantine:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """What a request names itself."""

    sessions: frozenset[str] = _NONE
    messages: frozenset[str] = _NONE
    memories: frozenset[str] = _NONE
    folders: frozenset[str] = _NONE
    roots: frozenset[str] = _NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Everything a purge takes, by id, and how many rows that is."""

    sessions: frozenset[str]
    messages: frozenset[str]
    memories: frozenset[str]
    folders: frozenset[str]
    roots: frozenset[str]
    #: Memories that go although nobody named them, and those that stay but lose words they came from.
    derived: int
    citing: frozenset[str]
    counts: Mapping[str, int] = field(default_factory=dict[str, int])

    def items(self) -> list[tuple[Rank, str]]:
        """The same as a list, in the order of destruction."""
        ranked = (
            (Rank.MEMORY, self.memories),
            (Rank.MESSAGE, self.messages),
            (Rank.SESSION, self.sessions),
            (Rank.FOLDER, self.folders),
            (Rank.ROOT, self.roots),
            (Rank.CITING, self.citing),
        )
        return [(rank, one) for rank, ids in ranked for one in sorted(ids)]


def plan(tx: Tx, request: PurgeRequest, now: datetime) -> Selection:
    """What a request covers at a time that is not in doubt, with all that came from it."""
    named = _NAMING[request.kind](tx, request, now)
    return select(tx, named)


def select(tx: Tx, named: Named) -> Selection:
    """Follow lineage from what is named: copies in forks, conversations that are emptied, and memories."""
    messages = set(named.messages) | lineage.messages_of(tx, named.sessions)
    messages |= lineage.copies_of(tx, messages)
    sessions = set(named.sessions) | lineage.emptied_by(tx, messages)
    derived = lineage.only_from(tx, messages) - named.memories
    memories = named.memories | derived
    everything = {*sessions, *messages, *memories, *named.folders}
    return Selection(
        sessions=frozenset(sessions),
        messages=frozenset(messages),
        memories=frozenset(memories),
        folders=named.folders,
        roots=named.roots,
        derived=len(derived),
        citing=frozenset(lineage.partly_from(tx, messages) - memories),
        counts={table: count for table, count in lineage.counts(tx, everything).items() if count},
    )


def _sessions(tx: Tx, request: PurgeRequest, _: datetime) -> Named:
    return Named(sessions=_known(tx, "sessions", request))


def _memories(tx: Tx, request: PurgeRequest, _: datetime) -> Named:
    return Named(memories=_known(tx, "memories", request))


def _known(tx: Tx, table: str, request: PurgeRequest) -> frozenset[str]:
    found = lineage.known(tx, table, request.ids)
    for one in request.ids:
        if one not in found:
            raise NotFound(f"there is no {request.kind.value} {one!r} in this vault")
    return frozenset(found)


def _older(tx: Tx, request: PurgeRequest, now: datetime) -> Named:
    sessions, messages, memories = lineage.older(tx, now - timedelta(days=request.days or 0))
    return Named(sessions=frozenset(sessions), messages=frozenset(messages), memories=frozenset(memories))


def _source(tx: Tx, request: PurgeRequest, _: datetime) -> Named:
    source = request.source or ""
    if source == IMPORTED:
        return Named(sessions=frozenset(lineage.imported(tx)))
    if source.startswith(_QUARANTINE):
        return _quarantined(tx, source.removeprefix(_QUARANTINE))
    folders = frozenset(one.path for one in notes.folders(tx) if one.path == source)
    roots = [one for one in transcripts.roots(tx) if one.path == source]
    if not folders and not roots:
        raise NotFound(f"{source!r} is not followed in this vault; give a followed path, or {IMPORTED!r}")
    sessions = {session for root in roots for session in lineage.of_root(tx, root.number)}
    return Named(sessions=frozenset(sessions), folders=folders, roots=frozenset(one.path for one in roots))


def _quarantined(tx: Tx, quarantine_id: str) -> Named:
    if quarantines.find(tx, quarantine_id) is None:
        raise NotFound(f"there is no quarantine {quarantine_id!r} in this vault")
    messages = frozenset(quarantines.messages_of(tx, quarantine_id))
    return Named(messages=messages, memories=frozenset(quarantines.memories_of(tx, quarantine_id)))


def _whole(_: Tx, request: PurgeRequest, __: datetime) -> Named:
    raise InvalidInput(f"a purge of a {request.kind.value} is not a matter of rows")


_NAMING = {
    PurgeKind.SESSION: _sessions,
    PurgeKind.MEMORY: _memories,
    PurgeKind.OLDER_THAN: _older,
    PurgeKind.SOURCE: _source,
    PurgeKind.USER: _whole,
    PurgeKind.RESTORED: _whole,
}
