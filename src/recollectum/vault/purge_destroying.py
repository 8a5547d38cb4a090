"""Destroying what a purge covers, one item at a time, each with all that hangs on it."""

from typing import NamedTuple

from recollectum.domain.event import EventType
from recollectum.domain.hit import SourceKind
from recollectum.domain.message import Json
from recollectum.recall.passages import message_hashes
from recollectum.storage.port import Tx
from recollectum.storage.tables import (
    chunks,
    embedding_cache,
    erased_items,
    erased_rows,
    events,
    memories,
    messages,
    notes,
    sessions,
    transcripts,
    versions,
)
from recollectum.storage.tables.erased_items import Rank
from recollectum.vault import changes
from recollectum.vault.keeping import note_going, texts_of
from recollectum.vault.note_sync import remove_notes
from recollectum.vault.purge_needles import Needles
from recollectum.vault.transcript import remove_session


class Destroyer(NamedTuple):
    """One open transaction of a purge, and where pieces of what goes are kept for the search."""

    change: changes.Change
    needles: Needles

    @property
    def tx(self) -> Tx:
        """The transaction."""
        return self.change.tx

    def destroy(self, rank: Rank, item: str) -> None:
        """Destroy one item; what is gone already stays gone."""
        match rank:
            case Rank.MEMORY:
                self._memory(item)
            case Rank.MESSAGE:
                self._message(item)
            case Rank.SESSION:
                self._session(item)
            case Rank.FOLDER:
                self._folder(item)
            case Rank.ROOT:
                self._root(item)
            case Rank.CITING:
                self._uncite(item)

    def _memory(self, memory_id: str) -> None:
        memory, number = memories.find(self.tx, memory_id), memories.number_of(self.tx, memory_id)
        if memory is None or number is None:
            return
        self.needles.take(memory.content, erased_rows.vector_of(self.tx, SourceKind.MEMORIES, number))
        for version in versions.of(self.tx, memory_id):
            self.needles.take(version.content)
        erased_rows.forget_about(self.tx, memory_id)
        changes.destroy(self.change, memory)

    def _message(self, message_id: str) -> None:
        message, number = messages.find(self.tx, message_id), erased_rows.message_number(self.tx, message_id)
        erased_items.bar(self.tx, message_id)
        if message is None or number is None:
            return
        first, *others = texts_of(message)
        self.needles.take(first, erased_rows.vector_of(self.tx, SourceKind.SESSIONS, number))
        for text in others:
            self.needles.take(text)
        note_going(self.tx, first, *others)
        embedding_cache.forget(self.tx, message_hashes(message))
        chunks.remove(self.tx, SourceKind.SESSIONS, number)
        erased_rows.untitle(self.tx, message.session_id)
        erased_rows.delete_message(self.tx, message_id)

    def _session(self, session_id: str) -> None:
        session = sessions.find(self.tx, session_id)
        erased_items.bar(self.tx, session_id)
        if session is None:
            return
        self.needles.take(f"{session.title or ''} {session.summary or ''}")
        erased_rows.forget_about(self.tx, session_id)
        actor, at = self.change.actor, self.change.at
        remove_session(self.tx, session_id, actor=actor, at=at, type=EventType.PURGED)

    def _folder(self, path: str) -> None:
        found = notes.of_folder(self.tx, path)
        for note in found:
            vector = erased_rows.vector_of(self.tx, SourceKind.NOTES, note.number)
            self.needles.take(notes.text(self.tx, note.number), vector)
        remove_notes(self.tx, found)
        notes.remove_folder(self.tx, path)

    def _root(self, path: str) -> None:
        for root in transcripts.roots(self.tx):
            if root.path == path:
                transcripts.remove_root(self.tx, root.number)

    def _uncite(self, memory_id: str) -> None:
        """What a memory said before may have been the words that went; what it says now stands on others."""
        memory = memories.find(self.tx, memory_id)
        if memory is None:
            return
        for version in versions.of(self.tx, memory_id):
            self.needles.take(version.content)
            note_going(self.tx, version.content)
        versions.purge(self.tx, memory_id)
        erased_rows.unsay(self.tx, memory_id)
        actor, at = self.change.actor, self.change.at
        payload: dict[str, Json] = {"version": memory.version, "lost_words": True}
        events.add(
            self.tx, EventType.EDITED, "memory", memory_id, at=at, actor=actor, state=memory.state, payload=payload
        )
