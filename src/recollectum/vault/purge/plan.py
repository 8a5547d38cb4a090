"""Selects the rows that a purge covers, by following the lineage of the named rows."""

from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.records import dataclass
from recollectum.storage.port import Tx
from recollectum.storage.tables.agent_state import shell_commands
from recollectum.storage.tables.content import memories, messages, notes, projects, transcripts
from recollectum.storage.tables.erasure import erased_lineage as lineage
from recollectum.storage.tables.erasure import remaining_texts
from recollectum.storage.tables.erasure.erased_items import PurgeItemKind
from recollectum.storage.tables.trail import quarantines
from recollectum.vault.files.projects import ProjectPlace, get_project
from recollectum.vault.purge.request import IMPORTED, PurgeKind, PurgeRequest
from recollectum.vault.purge.samples import MAX_SAMPLES, ErasureSamples

_NONE: frozenset[str] = frozenset()
_QUARANTINE = "quarantine:"


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedRows:
    """The rows that a request names."""

    sessions: frozenset[str] = _NONE
    messages: frozenset[str] = _NONE
    memories: frozenset[str] = _NONE
    folders: frozenset[str] = _NONE
    roots: frozenset[str] = _NONE
    projects: frozenset[str] = _NONE
    commands: frozenset[str] = _NONE


@dataclass(frozen=True, slots=True, kw_only=True)
class PurgeSelection:
    """Everything a purge erases, by id, and the number of rows."""

    sessions: frozenset[str]
    messages: frozenset[str]
    memories: frozenset[str]
    folders: frozenset[str]
    roots: frozenset[str]
    commands: frozenset[str]
    #: Memories erased without being named, and memories that stay but lose citations.
    derived: int
    citing: frozenset[str]
    counts: Mapping[str, int] = field(default_factory=dict[str, int])
    projects: frozenset[str] = _NONE

    def items(self) -> list[tuple[PurgeItemKind, str]]:
        """Return the same as a list, in the order of destruction."""
        ranked = (
            (PurgeItemKind.MEMORY, self.memories),
            (PurgeItemKind.MESSAGE, self.messages),
            (PurgeItemKind.SESSION, self.sessions),
            (PurgeItemKind.FOLDER, self.folders),
            (PurgeItemKind.ROOT, self.roots),
            (PurgeItemKind.CITING, self.citing),
            (PurgeItemKind.PROJECT, self.projects),
            (PurgeItemKind.COMMAND, self.commands),
        )
        return [(rank, one) for rank, ids in ranked for one in sorted(ids)]


def plan_purge(tx: Tx, request: PurgeRequest, now: datetime) -> PurgeSelection:
    """Return what a request covers, with everything derived from it; the time must not be in doubt."""
    named = _NAMED_BY_KIND[request.kind](tx, request, now)
    return select_lineage(tx, named)


def where_words_remain(tx: Tx, selection: PurgeSelection) -> list[tuple[str, str]]:
    """Return the kind and id of each session, memory and note that contains words of the selection, and stays."""
    samples = ErasureSamples()
    for memory_id in sorted(selection.memories)[:MAX_SAMPLES]:
        if memory := memories.find(tx, memory_id):
            samples.take(memory.content, ids=(memory_id,))
    for message_id in sorted(selection.messages)[:MAX_SAMPLES]:
        if message := messages.find(tx, message_id):
            samples.take(message.text, ids=(message_id, message.session_id))
    for command_id in sorted(selection.commands)[:MAX_SAMPLES]:
        if command := shell_commands.find(tx, command_id):
            samples.take(command.command, ids=(command_id,))
    gone = {*selection.memories, *selection.messages, *selection.folders, *selection.commands}
    return remaining_texts.where_texts_remain(tx, samples.texts, gone) if samples.texts else []


def select_lineage(tx: Tx, named: NamedRows) -> PurgeSelection:
    """Follow the lineage of the named rows: copies, sessions that become empty, their transcripts, and memories."""
    said = set(named.messages) | lineage.messages_of(tx, named.sessions)
    said |= lineage.copies_of(tx, said) | lineage.summaries_of(tx, said)
    sessions = set(named.sessions) | lineage.emptied_by(tx, said)
    transcripts = lineage.transcripts_of(tx, sessions)
    sessions |= transcripts
    said |= lineage.messages_of(tx, transcripts)
    derived = lineage.only_from(tx, said) - named.memories
    known = named.memories | derived
    everything = {*sessions, *said, *known, *named.folders, *named.commands}
    counted = {**lineage.counts(tx, everything), "projects": len(named.projects)}
    return PurgeSelection(
        sessions=frozenset(sessions),
        messages=frozenset(said),
        memories=frozenset(known),
        folders=named.folders,
        roots=named.roots,
        commands=named.commands,
        derived=len(derived),
        citing=frozenset(lineage.partly_from(tx, said) - known),
        counts={table: count for table, count in counted.items() if count},
        projects=named.projects,
    )


def _sessions(tx: Tx, request: PurgeRequest, _: datetime) -> NamedRows:
    return NamedRows(sessions=_known(tx, "sessions", request))


def _memories(tx: Tx, request: PurgeRequest, _: datetime) -> NamedRows:
    return NamedRows(memories=_known(tx, "memories", request))


def _projects(tx: Tx, request: PurgeRequest, _: datetime) -> NamedRows:
    found = [get_project(tx, ProjectPlace(one)) for one in request.ids]
    ids = [root for one in found for root in one.ids]
    return NamedRows(
        sessions=frozenset(projects.sessions_of(tx, ids)),
        memories=frozenset(projects.memory_ids(tx, ids)),
        commands=frozenset(one for id_ in ids for one in shell_commands.ids(tx, id_)),
        projects=frozenset(one.id for one in found),
    )


def _known(tx: Tx, table: str, request: PurgeRequest) -> frozenset[str]:
    found = lineage.known(tx, table, request.ids)
    for one in request.ids:
        if one not in found:
            raise NotFound(f"there is no {request.kind.value} {one!r} in this vault")
    return frozenset(found)


def _older(tx: Tx, request: PurgeRequest, now: datetime) -> NamedRows:
    before = now - timedelta(days=request.days or 0)
    sessions, messages, memories = lineage.older(tx, before)
    return NamedRows(
        sessions=frozenset(sessions),
        messages=frozenset(messages),
        memories=frozenset(memories),
        commands=frozenset(shell_commands.older(tx, before)),
    )


def _history(tx: Tx, request: PurgeRequest, _: datetime) -> NamedRows:
    return NamedRows(commands=frozenset(shell_commands.ids(tx, request.source)))


def _source(tx: Tx, request: PurgeRequest, _: datetime) -> NamedRows:
    source = request.source or ""
    if source == IMPORTED:
        return NamedRows(sessions=frozenset(lineage.imported(tx)))
    if source.startswith(_QUARANTINE):
        return _quarantined(tx, source.removeprefix(_QUARANTINE))
    folders = frozenset(one.path for one in notes.folders(tx) if one.path == source)
    roots = [one for one in transcripts.roots(tx) if one.path == source]
    if not folders and not roots:
        raise NotFound(f"{source!r} is not followed in this vault; give a followed path, or {IMPORTED!r}")
    sessions = {session for root in roots for session in lineage.of_root(tx, root.number)}
    return NamedRows(sessions=frozenset(sessions), folders=folders, roots=frozenset(one.path for one in roots))


def _quarantined(tx: Tx, quarantine_id: str) -> NamedRows:
    if quarantines.find(tx, quarantine_id) is None:
        raise NotFound(f"there is no quarantine {quarantine_id!r} in this vault")
    messages = frozenset(quarantines.messages_of(tx, quarantine_id))
    return NamedRows(messages=messages, memories=frozenset(quarantines.memories_of(tx, quarantine_id)))


def _whole(_: Tx, request: PurgeRequest, __: datetime) -> NamedRows:
    raise InvalidInput(f"a purge of a {request.kind.value} does not erase single rows")


_NAMED_BY_KIND = {
    PurgeKind.SESSION: _sessions,
    PurgeKind.MEMORY: _memories,
    PurgeKind.PROJECT: _projects,
    PurgeKind.OLDER_THAN: _older,
    PurgeKind.SOURCE: _source,
    PurgeKind.HISTORY: _history,
    PurgeKind.USER: _whole,
    PurgeKind.RESTORED: _whole,
}
