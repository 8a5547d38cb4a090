"""Saves, finds, edits, supersedes, moves and forgets memories."""

import builtins
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import Scope
from recollectum.domain.errors import Conflict, NotFound, StepRefused
from recollectum.domain.event import EventType
from recollectum.domain.ids import parse_enum, parse_optional_enum
from recollectum.domain.memory import (
    Citation,
    Kind,
    KindName,
    Memory,
    SaveOutcome,
    SaveResult,
    State,
    StateName,
    parse_listable_state,
)
from recollectum.domain.message import ToolUse
from recollectum.domain.notice import NO_NOTICE, Notice
from recollectum.domain.page import Page, cut_page
from recollectum.domain.trust import Trust
from recollectum.policy.actions import Action, ActionChoice, ActionWith
from recollectum.policy.clock import ClockReading, certain_reading
from recollectum.policy.lifecycle import LIVE, check_restorable, enter, state_at
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, memory_pages, versions
from recollectum.storage.tables.trail import events
from recollectum.vault.files.projects import ProjectPlace, ensure_project, get_project, parse_optional_place
from recollectum.vault.gate import operation
from recollectum.vault.intake.admitted import AdmittedMemory, AdmittedMessage, AdmittedText
from recollectum.vault.intake.draft import (
    MAX_PAGE,
    Draft,
    check_aware,
    check_ids,
    check_importance,
    check_limit,
)
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.quick_look import look_at
from recollectum.vault.intake.trust import caller_trust, check_shared_trust
from recollectum.vault.memories import changes
from recollectum.vault.memories.changes import apply_quarantine
from recollectum.vault.memories.history import History, citations_of
from recollectum.vault.memories.saving import save_drafts, without_collection
from recollectum.vault.memories.tool_use import record_tool_use, tool_use_message
from recollectum.vault.service import Service, VaultService

if TYPE_CHECKING:
    from recollectum.vault.contacts.service import Contacts

#: Moving a memory into the trash is a deletion, whatever the method's name.
_MOVE = ActionChoice(
    "state", {State.ACTIVE: Action.MEMORY_WRITE, State.ARCHIVED: Action.MEMORY_WRITE}, otherwise=Action.MEMORY_DELETE
)
#: A tool that records its use starts a session, or adds to one.
_TOOL_USE = ActionWith("said_by", Action.SESSION_WRITE)


class Memories(VaultService):
    """The memories of one vault."""

    contacts: Service["Contacts"] = Service(
        "contacts.service.Contacts", "Whom the memories tell of, and how they are reached."
    )

    @operation(Action.MEMORY_WRITE, Scope.USER, also=(_TOOL_USE,))
    def save(
        self,
        content: str,
        *,
        key: str | None = None,
        kind: KindName = "fact",
        importance: float = 0.5,
        ttl: timedelta | None = None,
        valid_from: datetime | None = None,
        valid_to: datetime | None = None,
        message_id: str | None = None,
        agent: str | None = None,
        project: str | None = None,
        said_by: ToolUse | None = None,
    ) -> SaveResult:
        """Save a text verbatim. With a key it replaces the text under that key; a duplicate is renewed.

        With `project`, its name, its id or the absolute path of a folder, the memory is limited to that project; a
        folder is registered on first use. With `said_by`, the use of the tool is recorded in the agent's session in
        the same transaction.
        """
        draft = Draft(
            content=content,
            key=key,
            kind=kind,
            importance=importance,
            ttl=ttl,
            valid_from=valid_from,
            valid_to=valid_to,
            message_id=message_id,
            agent=agent,
            project=project,
        )
        return self._save([draft], said_by, one_waits=False)[0]

    @operation(Action.MEMORY_WRITE, Scope.USER, also=(_TOOL_USE,))
    def save_many(self, drafts: Iterable[Draft], *, said_by: ToolUse | None = None) -> builtins.list[SaveResult]:
        """Save many texts in one transaction: all of them, or none. The next search puts them into the index."""
        with without_collection():
            return self._save(drafts, said_by, one_waits=True)

    @operation(Action.MEMORY_READ, Scope.USER)
    def get(self, memory_id: str) -> Memory:
        """Return the memory with that id, active or archived."""
        return self._runtime.read(lambda tx, reading: get_live_memory(tx, memory_id, reading))

    @operation(Action.MEMORY_READ, Scope.USER)
    def find(self, key: str, *, project: str | None = None) -> Memory | None:
        """Return the active memory with that key, of a project or personal, or None."""
        place = parse_optional_place(project, self.gate)

        def load(tx: Tx, reading: ClockReading) -> Memory | None:
            memory = memories.find_by_key(tx, key, get_project(tx, place).id if place else None)
            return memory if memory and state_at(memory, reading) is State.ACTIVE else None

        return self._runtime.read(load)

    @operation(Action.MEMORY_READ, Scope.USER)
    def list(
        self,
        *,
        state: StateName = State.ACTIVE,
        kind: KindName | None = None,
        key_prefix: str | None = None,
        ids: Sequence[str] | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Memory]:
        """Return the newest memories in one state: active, archived, or soft_deleted (the trash).

        With `key_prefix`, only active memories whose key begins with it, found by an index. With `ids` and nothing
        else, those of them that are active, on one page and in the order of the ids.
        """
        wanted = parse_listable_state(state)
        if wanted is not State.ACTIVE and not (key_prefix is None and ids is None):
            by = "ids" if key_prefix is None else "key_prefix"
            raise StepRefused(f"memories in state {state!r} cannot be listed by {by}; use active")
        if ids is not None:
            named = check_ids(ids, alone=kind is None and key_prefix is None and cursor is None)
            return self._runtime.read(lambda tx, reading: Page(_active_of(tx, named, reading)))
        chosen = parse_optional_enum(Kind, kind, "kind")
        size = check_limit(limit, MAX_PAGE)

        def load(tx: Tx, reading: ClockReading) -> Page[Memory]:
            found = memory_pages.page(
                tx, wanted, reading, limit=size + 1, kind=chosen, cursor=cursor, key_prefix=key_prefix
            )
            return cut_page([replace(memory, state=wanted) for memory in found], size, lambda one: one.id)

        return self._runtime.read(load)

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def edit(
        self,
        memory_id: str,
        content: str | None = None,
        *,
        importance: float | None = None,
        kind: KindName | None = None,
        version: int | None = None,
    ) -> Memory:
        """Change a memory and store its previous version. With `version`, only if that is still the current one."""

        def change(tx: Tx, reading: ClockReading, words: AdmittedText | None) -> Memory:
            before = self._editable(tx, memory_id, reading)
            if version is not None and before.version != version:
                raise Conflict(f"memory {memory_id!r} is at version {before.version}, not {version}; read it again")
            after = replace(
                before,
                importance=before.importance if importance is None else check_importance(importance),
                kind=before.kind if kind is None else parse_enum(Kind, kind, "kind"),
                author=self._runtime.actor,
                trust=check_shared_trust(self.gate.owner, before.trust if self.gate.own else Trust.UNKNOWN),
                version=before.version + 1,
                updated_at=reading.now,
            )
            done = self._change(tx, reading)
            edited = changes.update(done, before, after, EventType.EDITED, content=words)
            return apply_quarantine(done, edited, self._runtime.retention)

        with Intake(self._runtime) as intake:
            words = None if content is None else intake.content(content)
            edited = self._runtime.write(lambda tx, reading: change(tx, reading, words))
            return replace(edited, notice=intake.notice)

    @operation(Action.MEMORY_WRITE, Scope.USER, reads=True)
    def supersede(self, memory_id: str, content: str) -> Memory:
        """Replace a memory that is no longer true. The old one is archived and stays in its history."""

        def change(tx: Tx, reading: ClockReading, text: AdmittedText) -> Memory:
            old = changes.apply_due_steps(tx, _get_memory(tx, memory_id), reading, self._runtime.retention)
            _check_live(old, old.state)
            if old.superseded_by:
                raise Conflict(f"memory {memory_id!r} was superseded already, by {old.superseded_by!r}")
            new_id = self._runtime.ids("mem")
            done = self._change(tx, reading)
            changes.supersede(done, old, new_id, self._runtime.retention)
            new = Memory(
                id=new_id,
                content=text,
                key=None if self._active_holder(tx, old.key, old.project, reading) else old.key,
                kind=old.kind,
                importance=old.importance,
                author=self._runtime.actor,
                trust=check_shared_trust(self.gate.owner, caller_trust(self.gate)),
                agent=old.agent,
                project=old.project,
                created_at=reading.now,
                updated_at=reading.now,
                valid_from=reading.now,
                supersedes=old.id,
            )
            rules = self._runtime.retention
            return apply_quarantine(done, changes.add(done, enter(new, State.ACTIVE, reading.now, rules), text), rules)

        with Intake(self._runtime) as intake:
            text = intake.content(content)
            new = self._runtime.write(lambda tx, reading: change(tx, reading, text))
            return replace(new, notice=intake.notice)

    @operation(_MOVE, Scope.USER, reads=True)
    def move(self, memory_id: str, state: StateName) -> Memory:
        """Take one allowed step: archive, delete, or restore from the archive or the trash (`active`)."""
        return self._move(memory_id, _parse_target_state(state))

    @operation(Action.MEMORY_DELETE, Scope.USER, reads=True)
    def forget(self, memory_id: str) -> Memory:
        """Delete a memory at a person's request: it is hidden now, and destroyed when its grace window ends."""
        return self._move(memory_id, State.SOFT_DELETED)

    @operation(Action.MEMORY_READ, Scope.USER)
    def history(self, memory_id: str) -> History:
        """Return all versions and events of a memory, oldest first."""

        def load(tx: Tx, reading: ClockReading) -> History:
            memory = get_live_memory(tx, memory_id, reading)
            return History.of(memory, versions.of(tx, memory_id), events.of(tx, memory_id))

        return self._runtime.read(load)

    @operation(Action.MEMORY_READ, Scope.USER)
    def citations(self, memory_id: str) -> builtins.list[Citation]:
        """Return the places in conversations that a memory came from, in the order in which they were said."""
        return self._runtime.read(lambda tx, reading: citations_of(tx, get_live_memory(tx, memory_id, reading)))

    @operation(Action.MEMORY_READ, Scope.USER)
    def as_of(self, when: datetime) -> builtins.list[Memory]:
        """Return the memories that were active at a time, as they read then. Memories deleted since are left out."""

        check_aware("when", when)

        def load(tx: Tx, reading: ClockReading) -> list[Memory]:
            states, before = events.states_at(tx, when), versions.standing_at(tx, when)
            then: list[Memory] = []
            for memory in memories.created_by(tx, when):
                past = History.as_it_read(memory, before.get(memory.id), states.get(memory.id))
                visible = state_at(memory, reading) in LIVE
                if visible and past.state is State.ACTIVE and state_at(past, certain_reading(when)) is State.ACTIVE:
                    then.append(past)
            return then

        return self._runtime.read(load)

    def _save(self, drafts: Iterable[Draft], said_by: ToolUse | None, *, one_waits: bool) -> builtins.list[SaveResult]:
        with Intake(self._runtime) as intake:
            admitted: builtins.list[AdmittedMemory] = []
            notices: builtins.list[Notice] = []
            places: builtins.list[ProjectPlace | None] = []
            drafts = [*drafts]
            looks = look_at([draft.content for draft in drafts])
            begun = intake.tally.mark()
            for draft, looked in zip(drafts, looks, strict=True):
                places.append(None if draft.project is None else parse_optional_place(draft.project, self.gate))
                admitted.append(intake.memory(draft, looked))
                notice = intake.tally.notice(begun)
                notices.append(notice)
                begun = begun if notice is NO_NOTICE else intake.tally.mark()
            message = intake.message(tool_use_message(said_by)) if said_by else None
            spoken = (said_by, message) if said_by and message else None
            saved = self._runtime.write(
                lambda tx, reading: self._write_drafts(tx, reading, places, admitted, spoken, one_waits=one_waits)
            )
        told = zip(saved, notices, strict=True)
        saved = [one if notice is one.notice else replace(one, notice=notice) for one, notice in told]
        if self.gate.may_read():
            return saved
        # A caller with write access only is not told what was there before.
        return [replace(one, outcome=SaveOutcome.SAVED) for one in saved]

    def _write_drafts(
        self,
        tx: Tx,
        reading: ClockReading,
        places: builtins.list[ProjectPlace | None],
        admitted: builtins.list[AdmittedMemory],
        spoken: tuple[ToolUse, AdmittedMessage] | None,
        *,
        one_waits: bool,
    ) -> builtins.list[SaveResult]:
        if any(places):
            known = {place: ensure_project(tx, place, reading.now).id for place in dict.fromkeys(places) if place}
            pairs = zip(admitted, places, strict=True)
            admitted = [draft.in_project(known[place] if place else None) for draft, place in pairs]
        if spoken is not None:
            use, message = spoken
            source = record_tool_use(tx, use, message, reading, self._runtime)
            admitted = [draft.said_in(source, use.agent) for draft in admitted]
        return save_drafts(tx, admitted, reading, self._runtime, one_waits=one_waits)

    def _move(self, memory_id: str, to: State) -> Memory:
        def change(tx: Tx, reading: ClockReading) -> Memory:
            memory = changes.apply_due_steps(tx, _get_memory(tx, memory_id), reading, self._runtime.retention)
            if memory.state is to:
                return memory
            if to is State.ACTIVE:
                return self._bring_back(tx, memory, reading)
            return changes.move(self._change(tx, reading), memory, to, self._runtime.retention)

        return self._runtime.write(change, frees=to is State.SOFT_DELETED)

    def _change(self, tx: Tx, reading: ClockReading) -> changes.Change:
        return changes.Change(tx, self._runtime.actor, reading.now)

    def _editable(self, tx: Tx, memory_id: str, reading: ClockReading) -> Memory:
        memory = changes.apply_due_steps(tx, _get_memory(tx, memory_id), reading, self._runtime.retention)
        _check_live(memory, memory.state)
        if memory.state is State.ARCHIVED:
            raise StepRefused(f"memory {memory_id!r} is archived and read-only; restore it first")
        return memory

    def _active_holder(self, tx: Tx, key: str | None, project: str | None, reading: ClockReading) -> Memory | None:
        found = memories.find_by_key(tx, key, project) if key else None
        if found is None:
            return None
        settled = changes.apply_due_steps(tx, found, reading, self._runtime.retention)
        return settled if settled.state is State.ACTIVE else None

    def _bring_back(self, tx: Tx, memory: Memory, reading: ClockReading) -> Memory:
        check_restorable(memory, reading)
        if memory.superseded_by:
            raise StepRefused(f"memory {memory.id!r} was superseded by {memory.superseded_by!r}; edit that one")
        holder = self._active_holder(tx, memory.key, memory.project, reading)
        if holder and holder.id != memory.id:
            raise Conflict(f"key {memory.key!r} is held by memory {holder.id!r} now; forget or edit that one")
        # A deadline in the past would delete it again at once.
        expired = memory.expires_at is not None and memory.expires_at <= reading.policy_now
        kept = replace(memory, expires_at=None) if expired else memory
        restored = enter(kept, State.ACTIVE, reading.now, self._runtime.retention)
        return changes.update(self._change(tx, reading), memory, restored, EventType.RESTORED, {"from": memory.state})


def _active_of(tx: Tx, ids: Sequence[str], reading: ClockReading) -> list[Memory]:
    return [memory for memory in memories.find_many(tx, ids) if state_at(memory, reading) is State.ACTIVE]


def _get_memory(tx: Tx, memory_id: str) -> Memory:
    memory = memories.find(tx, memory_id)
    if memory is None:
        raise NotFound(f"there is no memory {memory_id!r} in this vault")
    return memory


def get_live_memory(tx: Tx, memory_id: str, reading: ClockReading) -> Memory:
    """Return the memory as a reader may see it; raise when it is deleted or expired."""
    memory = _get_memory(tx, memory_id)
    state = state_at(memory, reading)
    _check_live(memory, state)
    return replace(memory, state=state)


def _check_live(memory: Memory, state: State) -> None:
    if state is State.SOFT_DELETED:
        raise NotFound(f"memory {memory.id!r} is deleted; it can be restored while its grace window lasts")
    if state not in LIVE:
        raise NotFound(f"there is no memory {memory.id!r} in this vault")


def _parse_target_state(state: str) -> State:
    if state in (State.ACTIVE, State.ARCHIVED, State.SOFT_DELETED):
        return State(state)
    raise StepRefused(f"a memory cannot be moved to {state!r} by hand; use active, archived or soft_deleted")
