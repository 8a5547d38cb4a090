"""Runs a purge from its first record to its receipt, in batches that can be resumed after a crash."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from recollectum.domain.errors import Busy
from recollectum.domain.event import EventType
from recollectum.domain.hit import SourceKind
from recollectum.domain.message import Json
from recollectum.policy.clock import ClockReading
from recollectum.recall.index.passages import message_hashes
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, messages, notes, served, sessions, transcripts, versions
from recollectum.storage.tables.content import projects as project_rows
from recollectum.storage.tables.erasure import (
    erased,
    erased_items,
    erased_rows,
    purge_samples,
    receipts,
    remaining_texts,
)
from recollectum.storage.tables.erasure.erased_items import ActivePurge, PurgeItemKind
from recollectum.storage.tables.index import chunks, embedding_cache
from recollectum.storage.tables.learning import learnings, proposals
from recollectum.storage.tables.trail import events, meta
from recollectum.storage.tables.trail.health import LEDGER_POSITION
from recollectum.vault.agent_state.shell_history import destroy_command
from recollectum.vault.erasure import erase_remains, mark_remains_due
from recollectum.vault.files.owner_files import owner_folder
from recollectum.vault.intake.kept_secrets import (
    message_texts,
    queue_message_secrets,
    queue_secret_deletion,
    queue_summary_secrets,
)
from recollectum.vault.learnings.sync import sync_learnings
from recollectum.vault.memories import changes
from recollectum.vault.messages import remove_session
from recollectum.vault.notes.sync import remove_notes
from recollectum.vault.purge.environment import (
    PurgeEnvironment,
    ledger_digest,
    owner_digest,
    replace_key,
    sync_ledger,
    vault_digest,
)
from recollectum.vault.purge.matching import Outline, OutlineKey
from recollectum.vault.purge.plan import PurgeSelection
from recollectum.vault.purge.request import PurgeKind, PurgeState, Receipt
from recollectum.vault.purge.samples import ErasureSamples
from recollectum.vault.purge.search import ErasureSearchResult, search_files
from recollectum.vault.purge.signatures import from_stored, sign_receipt, to_stored
from recollectum.vault.runtime import VaultRuntime


class Destroyer(NamedTuple):
    """One open transaction of a purge, and the samples of what it erases for the search."""

    change: changes.Change
    needles: ErasureSamples

    @property
    def tx(self) -> Tx:
        """The transaction."""
        return self.change.tx

    def destroy(self, rank: PurgeItemKind, item: str) -> None:
        """Destroy one item; do nothing when it is gone already."""
        work: dict[PurgeItemKind, Callable[[str], object]] = {
            PurgeItemKind.MEMORY: self._memory,
            PurgeItemKind.MESSAGE: self._message,
            PurgeItemKind.SESSION: self._session,
            PurgeItemKind.FOLDER: self._folder,
            PurgeItemKind.ROOT: self._root,
            PurgeItemKind.CITING: self._uncite,
            PurgeItemKind.PROJECT: lambda one: project_rows.delete(self.tx, one),
            PurgeItemKind.COMMAND: self._command,
        }
        work[rank](item)

    def _command(self, command_id: str) -> None:
        self.needles.take(destroy_command(self.tx, command_id) or "", is_indexed=False)

    def _memory(self, memory_id: str) -> None:
        memory, number = memories.find(self.tx, memory_id), memories.number_of(self.tx, memory_id)
        if memory is None or number is None:
            return
        vector = erased_rows.vector_of(self.tx, SourceKind.MEMORIES, number)
        self.needles.take(memory.content, vector, ids=(memory_id,))
        for version in versions.of(self.tx, memory_id):
            self.needles.take(version.content, ids=(memory_id,))
        erased_rows.forget_about(self.tx, memory_id)
        changes.destroy(self.change, memory)

    def _message(self, message_id: str) -> None:
        message, number = messages.find(self.tx, message_id), erased_rows.message_number(self.tx, message_id)
        erased_items.bar(self.tx, message_id)
        if message is None or number is None:
            return
        first, *others = message_texts(message)
        ids = (message_id, message.session_id)
        self.needles.take(first, erased_rows.vector_of(self.tx, SourceKind.SESSIONS, number), ids)
        for text in others:
            self.needles.take(text, ids=ids)
        queue_message_secrets(self.tx, message)
        embedding_cache.forget(self.tx, message_hashes(message))
        chunks.remove(self.tx, SourceKind.SESSIONS, number)
        queue_secret_deletion(self.tx, *proposals.remove_quoting(self.tx, message_id))
        queue_summary_secrets(self.tx, message.session_id)
        erased_rows.clear_title(self.tx, message.session_id)
        served.forget(self.tx, message_id, self.change.at)
        erased_rows.delete_message(self.tx, message_id)

    def _session(self, session_id: str) -> None:
        session = sessions.find(self.tx, session_id)
        erased_items.bar(self.tx, session_id)
        if session is None:
            return
        self.needles.take(f"{session.title or ''} {session.summary or ''}", ids=(session_id,))
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
        """Remove previous versions, which may hold the erased text; the current text of the memory stays."""
        memory = memories.find(self.tx, memory_id)
        if memory is None:
            return
        for version in versions.of(self.tx, memory_id):
            self.needles.take(version.content)
            queue_secret_deletion(self.tx, version.content)
        versions.purge(self.tx, memory_id)
        erased_rows.clear_source_message(self.tx, memory_id)
        actor, at = self.change.actor, self.change.at
        payload: dict[str, Json] = {"version": memory.version, "lost_words": True}
        events.add(
            self.tx, EventType.EDITED, "memory", memory_id, at=at, actor=actor, state=memory.state, payload=payload
        )


_BATCH = 500
_LOG_HELD = "another reader keeps what was erased in the log; close it, then run: recollectum purge finish"
_STILL_FOUND = "what was erased is still in the named files; check them, and remove it there"
_NOT_READ = "the named files could not be searched; check them, then run: recollectum purge finish"
_NO_SAMPLES = "there is nothing to search for: what was erased was too short, or the purge was cut short"
#: The most places that a receipt names of those where the same words remain.
_PLACES = 10


def begin_purge(tx: Tx, purge: ActivePurge, selection: PurgeSelection) -> None:
    """Record all that a purge will destroy, in the transaction that confirmed it."""
    erased_items.begin(tx, purge, selection.items())


def run_purge(
    runtime: VaultRuntime, environment: PurgeEnvironment, purge: ActivePurge, *, resumed: bool = False
) -> Receipt:
    """Finish the remaining steps of a purge, and write its receipt."""
    number = _note_in_ledger(runtime, environment, purge)
    needles = _samples_of(runtime, environment, purge)
    key = OutlineKey(environment.outline_key(purge.id))
    while _destroy_batch(runtime, purge, needles, key):
        pass
    runtime.write(lambda tx, reading: _close_purge(tx, number, reading.now), frees=True)
    _rewrite_files(runtime)
    with runtime.vault.use() as opened:
        opened.session_cache.clear()
        opened.served.clear()
        opened.archive.clear()
    # The returned rows were erased before: backups made since then do not hold them.
    again = PurgeKind(purge.kind) is PurgeKind.RESTORED
    vault_id = runtime.vault.id
    held = _shred(runtime, environment, purge, needles) if purge.shred else None
    shredded = purge.shred and not held
    before = environment.erased_until(vault_id) if again else None
    gone = environment.destroy_backups((vault_id,), before, with_keys=shredded)
    blank = _blank_receipt(runtime, environment, purge, gone, shredded=shredded)
    if held:
        return _settle(runtime, environment, replace(blank, reason=held))
    if erase_remains(runtime):
        return _settle(runtime, environment, _search_for(runtime, environment, blank, needles, resumed=resumed))
    return _settle(runtime, environment, blank)


def _shred(
    runtime: VaultRuntime, environment: PurgeEnvironment, purge: ActivePurge, needles: ErasureSamples
) -> str | None:
    """Give the vault a new key, and destroy the old one; return why that has to wait."""
    if purge.shredded:
        return None
    try:
        # A copy under the destroyed key may lie in the home.
        needles.keys.append(replace_key(environment, runtime.gate.owner, runtime.vault.id))
    except Busy as busy:
        return f"{busy}: recollectum purge finish"
    runtime.database.write(lambda tx: erased_items.set_shredded(tx, purge.id), frees=True)
    return None


def search_again(runtime: VaultRuntime, environment: PurgeEnvironment, purge: ActivePurge) -> Receipt | None:
    """Search once more for what a purge erased whose receipt is not done; None when nothing is known of it."""
    needles = _samples_of(runtime, environment, purge)
    known = environment.catalog.read(lambda tx: receipts.find(tx, purge.id))
    if known is None or not len(needles):
        return None
    blank = replace(from_stored(known), at=environment.clock().isoformat())
    return _settle(runtime, environment, _search_for(runtime, environment, blank, needles, resumed=True))


def _samples_of(runtime: VaultRuntime, environment: PurgeEnvironment, purge: ActivePurge) -> ErasureSamples:
    """Return the samples that this process took, or what an earlier one kept of them."""
    known = environment.needles.get(purge.id)
    if known is None:
        kept = runtime.database.read(lambda tx: purge_samples.of(tx, purge.id))
        known = ErasureSamples(outlines=[Outline(bits=bits, digest=digest) for bits, digest in kept])
        environment.needles[purge.id] = known
    return known


def _settle(runtime: VaultRuntime, environment: PurgeEnvironment, receipt: Receipt) -> Receipt:
    """Store a receipt, and record in the vault how far its purge has come."""
    kept = store_receipt(environment, receipt, runtime.vault.id)
    done = kept.state is PurgeState.DONE

    def change(tx: Tx) -> None:
        # A purge that is not verified is finished for the vault: nothing of it is left to destroy.
        state = PurgeState.FAILED if kept.state is PurgeState.UNVERIFIED else kept.state
        erased_items.set_state(tx, kept.id, state.value)
        if done:
            purge_samples.remove(tx, kept.id)

    # A read that began earlier would not see this, and a waiting purge is requested again.
    runtime.database.write(change, frees=True)
    if done:
        environment.needles.pop(kept.id, None)
    return kept


def store_receipt(environment: PurgeEnvironment, receipt: Receipt, vault_id: str = "") -> Receipt:
    """Sign a receipt of one vault or of a person, and store it; do not replace one that says more."""
    vault, seed = vault_digest(environment.salt(), vault_id), environment.seed()

    def change(tx: Tx) -> Receipt:
        known = receipts.find(tx, receipt.id)
        before = from_stored(known) if known else None
        if before and before.state is PurgeState.DONE and before.samples >= receipt.samples:
            return before
        # A resumed purge does not find again what it destroyed before.
        gone = max(receipt.backups_destroyed, before.backups_destroyed) if before else receipt.backups_destroyed
        made = sign_receipt(replace(receipt, backups_destroyed=gone), seed)
        receipts.save(tx, to_stored(made, vault))
        return made

    kept = environment.catalog.write(change, frees=True)
    sync_ledger(environment)
    return kept


def _note_in_ledger(runtime: VaultRuntime, environment: PurgeEnvironment, purge: ActivePurge) -> int:
    """Write the ledger first: if somebody restores an older copy, the ledger says what was erased."""
    salt = environment.salt()
    vault_id = runtime.vault.id
    vault = vault_digest(salt, vault_id)
    names = {1: "memory", 2: "message", 3: "session", 4: "folder", 5: "root", 8: "command"}
    left = runtime.database.read(lambda tx: erased_items.items(tx, purge.id))
    digests = [ledger_digest(salt, vault_id, names[rank], item) for rank, item in left if rank in names]
    number = environment.catalog.write(lambda tx: erased.add(tx, vault, digests, purge.at), frees=True)
    sync_ledger(environment)
    return number


def _destroy_batch(runtime: VaultRuntime, purge: ActivePurge, needles: ErasureSamples, key: OutlineKey) -> bool:
    def change(tx: Tx, reading: ClockReading) -> bool:
        some = erased_items.next_items(tx, purge.id, _BATCH)
        erased_rows.forget_effects(tx, [item for rank, item in some if rank is PurgeItemKind.MEMORY])
        destroyer = Destroyer(changes.Change(tx, purge.by, reading.now), needles)
        for rank, item in some:
            destroyer.destroy(rank, item)
            erased_items.item_done(tx, purge.id, rank, item)
        if some:
            mark_remains_due(tx)
            # With the rows: after a crash nobody could say any more what to search for.
            purge_samples.add(tx, purge.id, [(one.bits, one.digest) for one in needles.to_outlines(key)])
        return bool(some)

    return runtime.write(change, frees=True)


def _close_purge(tx: Tx, number: int, at: datetime) -> None:
    # Also what was read while the rows were being destroyed, and what was made from files.
    served.forget(tx, "", at)
    erased_rows.drop_derived(tx)
    meta.save(tx, LEDGER_POSITION, str(number))
    mark_remains_due(tx)


def _rewrite_files(runtime: VaultRuntime) -> None:
    """Remove the lines of destroyed memories from the LEARNINGS.md files."""
    stale = runtime.database.read(learnings.stale_agents)
    if stale and runtime.files.elsewhere() is not None:
        # The next sync of the other host removes them from its file, which it knows by the recorded lines.
        return
    for agent in stale:
        sync_learnings(runtime, agent)
    runtime.database.write(learnings.forget_deleted, frees=True)


def _blank_receipt(
    runtime: VaultRuntime, environment: PurgeEnvironment, purge: ActivePurge, gone: int, *, shredded: bool
) -> Receipt:
    return Receipt(
        id=purge.id,
        kind=PurgeKind(purge.kind),
        state=PurgeState.PENDING,
        request=purge.digest,
        owner=owner_digest(environment.salt(), runtime.gate.owner or ""),
        by=purge.by,
        began_at=purge.at.isoformat(),
        at=environment.clock().isoformat(),
        counts=dict(purge.counts),
        backups_destroyed=gone,
        elsewhere=environment.places_elsewhere((runtime.vault.id,), with_keys=shredded),
        reason=_LOG_HELD,
        shredded=shredded,
        form=3 if purge.shred else 2,
    )


def _search_for(
    runtime: VaultRuntime, environment: PurgeEnvironment, blank: Receipt, needles: ErasureSamples, *, resumed: bool
) -> Receipt:
    owner = runtime.gate.owner
    folder = owner_folder(runtime.home.owners, owner) if runtime.home.owners and owner else None
    found = search_files(
        environment,
        blank.id,
        needles,
        (runtime.vault.id,),
        folder,
        lambda sample, is_term: runtime.database.read(lambda tx: _is_in_kept_text(tx, sample, is_term=is_term)),
    )
    remaining = runtime.database.read(lambda tx: remaining_texts.where_texts_remain(tx, found.excused))
    receipt = with_search_result(blank, found, is_lost=not len(needles) and (resumed or needles.short > 0))
    return replace(receipt, excused=len(remaining), remaining=place_names(remaining))


def place_names(remaining: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return some of the places where the same words remain, in words."""
    return tuple(f"{kind} {item}" for kind, item in remaining[:_PLACES])


def with_search_result(blank: Receipt, found: ErasureSearchResult, *, is_lost: bool) -> Receipt:
    """Return the receipt with the result of the file search; `is_lost` when there was nothing to search for."""
    if found.hits:
        state, reason = PurgeState.FAILED, _STILL_FOUND
    elif found.unread:
        state, reason = PurgeState.UNVERIFIED, _NOT_READ
    elif is_lost and blank.counts:
        state, reason = PurgeState.UNVERIFIED, _NO_SAMPLES
    else:
        state, reason = PurgeState.DONE, None
    return replace(
        blank,
        state=state,
        samples=found.samples,
        files_scanned=found.files,
        bytes_scanned=found.bytes,
        hits=len(found.hits),
        hit_files=found.hit_files,
        unread=found.unread,
        reason=reason,
    )


def _is_in_kept_text(tx: Tx, sample: str | bytes, *, is_term: bool) -> bool:
    """Return whether remaining text contains the same words, so that finding them is no fault."""
    if isinstance(sample, bytes):
        return remaining_texts.has_vector(tx, sample)
    spelled = (sample, json.dumps(sample)[1:-1])
    return any(remaining_texts.text_exists(tx, one) for one in spelled) or (
        is_term and remaining_texts.is_identifier(tx, sample)
    )
