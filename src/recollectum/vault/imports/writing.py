"""Writes what a reader of foreign files yields, in batches of one transaction each; what is here already is skipped."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import field, replace
from typing import NamedTuple

from recollectum.domain.errors import InvalidInput
from recollectum.domain.ids import derived_id
from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, Role, trust_of_role
from recollectum.domain.notice import NO_NOTICE, Notice, total
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.domain.trust import Trust
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import imports, memories, messages, sessions
from recollectum.text.terms.similarity import fingerprint
from recollectum.vault.files.foreign_sources import (
    DamagedPart,
    ForeignConversation,
    ForeignItem,
    ForeignMemory,
    OmittedPart,
)
from recollectum.vault.intake.admitted import AdmittedMemory, AdmittedMessage, AdmittedSession
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.intake import Intake
from recollectum.vault.intake.kept_secrets import queue_secret_deletion
from recollectum.vault.memories.saving import save_drafts
from recollectum.vault.messages import upsert_session_messages
from recollectum.vault.runtime import VaultRuntime

#: One transaction writes at most so many messages, or so many characters.
BATCH = 500
BATCH_CHARACTERS = 2**20
#: How much an import in one transaction may hold.
MOST_WHOLE = 64 * 2**20
#: The number of damaged parts that are listed.
MOST_DAMAGE = 1000
#: What a keyed memory is called that the vault has with another text.
_CHANGED = "changed entity"
_SEPARATOR = "\x1f"
#: How many sessions of one conversation are looked at; a hook begins another one after a long pause.
_MOST_SESSIONS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportChoice:
    """How an import is written."""

    import_id: str
    #: None for everybody.
    people: frozenset[str] | None = None
    #: The person says that it is their own: a text gets the trust of its speaker.
    mine: bool = False
    #: The person says that it is not their own: no text is trusted.
    foreign: bool = False


class ImportTarget(NamedTuple):
    """Where an import goes, and how."""

    runtime: VaultRuntime
    choice: ImportChoice
    #: Whether all of it is one transaction.
    whole: bool
    #: Called with the number of messages and memories that were written or known.
    progress: Callable[[int], None]


class _Part(NamedTuple):
    """A conversation, and some messages of it; a memory is the text of the message beside it."""

    session: Session
    said: list[tuple[Message, ForeignMemory | None]]


@dataclass(slots=True)
class ImportTally:
    """What became of what was read."""

    counts: Counter[str] = field(default_factory=Counter[str])
    left_out: Counter[str] = field(default_factory=Counter[str])
    damage: list[DamagedPart] = field(default_factory=list[DamagedPart])
    notice: Notice = NO_NOTICE


class ImportWriter:
    """Writes one source into a vault."""

    def __init__(self, target: ImportTarget) -> None:
        self.tally = ImportTally()
        self._runtime, self._choice, self._whole, self._progress = target
        self._waiting: list[_Part] = []
        self._messages = 0
        self._characters = 0
        self._chosen = False
        self._seen: set[str] = set()

    def write(self, items: Iterator[ForeignItem]) -> ImportTally:
        """Write everything, and return what became of it."""
        for item in items:
            match item:
                case ForeignConversation():
                    self._begin(item)
                case Message() | ForeignMemory():
                    if self._chosen:
                        self._say(item)
                case OmittedPart():
                    self.tally.left_out[item.what] += item.count
                case DamagedPart():
                    self._damaged(item)
        self._flush()
        self.tally.counts["conversations"] = len(self._seen)
        return self.tally

    def _damaged(self, part: DamagedPart) -> None:
        if len(self.tally.damage) < MOST_DAMAGE:
            self.tally.damage.append(part)

    def _begin(self, conversation: ForeignConversation) -> None:
        people, person = self._choice.people, conversation.person
        self._chosen = people is None or person is None or person in people
        if self._chosen:
            self._waiting.append(_Part(conversation.session, []))
            self._seen.add(conversation.session.id)

    def _say(self, item: Message | ForeignMemory) -> None:
        if isinstance(item, Message):
            self._take(replace(item, trust=self._trust(item.role)), None, len(item.text))
        else:
            self._take(self._marker(item), item, len(item.text))

    def _take(self, message: Message, memory: ForeignMemory | None, length: int) -> None:
        part = self._waiting[-1]
        part.said.append((replace(message, session_id=part.session.id), memory))
        self._messages += 1
        self._characters += length
        if self._whole:
            if self._characters > MOST_WHOLE:
                raise InvalidInput(f"it holds more than {MOST_WHOLE // 2**20} MiB of text, too much for one import")
        elif self._messages >= BATCH or self._characters >= BATCH_CHARACTERS:
            self._flush()
            self._waiting = [_Part(part.session, [])]

    def _trust(self, role: Role) -> Trust:
        return trust_of_role(role) if self._choice.mine else Trust.IMPORTED

    def _marker(self, memory: ForeignMemory) -> Message:
        """Return the message that stands for a memory: it is known again by it, and undone with it."""
        session = self._waiting[-1].session
        seed = f"{session.id}{_SEPARATOR}{memory.native_id}"
        return Message(
            id=derived_id("msg", memory.at, seed),
            session_id=session.id,
            position=0,
            role=Role.INFO,
            content="",
            created_at=memory.at,
            native_id=memory.native_id,
            trust=Trust.OWNER if self._choice.mine else Trust.IMPORTED,
            extra=memory.extra,
        )

    def _flush(self) -> None:
        parts = [part for part in self._waiting if part.said]
        self._waiting, self._messages, self._characters = [], 0, 0
        if not parts:
            return
        with Intake(self._runtime) as intake:
            admitted = [self._admit(intake, part) for part in parts]
            counts, notice = self._runtime.write(lambda tx, reading: self._store(tx, reading, admitted))
        if changed := counts.pop(_CHANGED, 0):
            self.tally.left_out[_CHANGED] += changed
        self.tally.counts += counts
        self.tally.notice += notice
        self._progress(sum(len(part.said) for part in parts))

    def _admit(self, intake: Intake, part: _Part) -> "_AdmittedPart":
        session = intake.session(part.session)
        said: list[AdmittedMessage] = []
        drafts: dict[str, _Drafted] = {}
        for message, memory in part.said:
            own = intake.imported(message, foreign=self._choice.foreign)
            if own is None:
                self.tally.counts["echoes"] += 1
                continue
            if memory is not None:
                begun = intake.tally.mark()
                draft = self._draft(intake, session, own, memory)
                if draft is None:
                    continue
                drafts[own.message.id] = _Drafted(draft, intake.tally.notice(begun))
            said.append(own)
        return _AdmittedPart(session, said, drafts)

    def _draft(
        self, intake: Intake, session: AdmittedSession, own: AdmittedMessage, memory: ForeignMemory
    ) -> AdmittedMemory | None:
        try:
            return intake.memory(
                Draft(
                    content=memory.text,
                    key=memory.key,
                    kind=Kind.FACT,
                    importance=memory.importance,
                    message_id=own.message.id,
                    agent=session.session.key.agent,
                )
            )
        except InvalidInput as error:
            self._damaged(DamagedPart(f"memory {memory.native_id[:80]}", str(error)))
            return None

    def _store(self, tx: Tx, reading: ClockReading, parts: list["_AdmittedPart"]) -> tuple[Counter[str], Notice]:
        counts: Counter[str] = Counter()
        notice = NO_NOTICE
        for given in parts:
            heard = _heard_live(tx, given)
            counts["known"] += len(given.said) - len(heard)
            if not heard:
                continue
            part = given._replace(said=heard)
            before = imports.last_number(tx)
            written = upsert_session_messages(tx, part.session, part.said, actor=self._runtime.actor, at=reading.now)
            drafts = [draft for id_, draft in part.drafts.items() if id_ in written.new]
            saved = self._save(tx, reading, drafts)
            counts += Counter(
                added=written.counts["added"] - len(drafts),
                known=written.counts["known"] - (len(part.drafts) - len(drafts)),
                memories=len(saved),
                known_memories=len(part.drafts) - len(saved),
            )
            counts[_CHANGED] += sum(_is_changed(tx, one.draft) for one in part.drafts.values())
            notice += written.notice + total(one.notice for one in saved)
            if written.new:
                session_id = part.session.session.id
                imports.add(tx, self._choice.import_id, session_id, before, self._runtime.actor, reading.now)
        return counts, notice

    def _save(self, tx: Tx, reading: ClockReading, drafts: list["_Drafted"]) -> list["_Drafted"]:
        """Save the memories whose key is new, or without one their text; one that the vault has stays untouched."""
        fresh: dict[str, _Drafted] = {}
        for one in drafts:
            mark = one.draft.key or fingerprint(one.draft.content)
            if mark in fresh or _is_known(tx, one.draft):
                # The stored text stays: the secrets of this one are not needed, unless that text refers to them too.
                queue_secret_deletion(tx, one.draft.content)
            else:
                fresh[mark] = one
        if fresh:
            save_drafts(tx, [one.draft for one in fresh.values()], reading, self._runtime)
        return list(fresh.values())


class _Drafted(NamedTuple):
    """A memory after the intake, and what was done to its text."""

    draft: AdmittedMemory
    notice: Notice


class _AdmittedPart(NamedTuple):
    """The same after the intake; the drafts by the ids of their messages."""

    session: AdmittedSession
    said: list[AdmittedMessage]
    drafts: dict[str, _Drafted]


def _heard_live(tx: Tx, part: _AdmittedPart) -> list[AdmittedMessage]:
    """Return what no hook recorded while the conversation went on: that is a session of the same key, not imported."""
    session = part.session.session
    natives = [one.message.native_id for one in part.said if one.message.native_id]
    if session.key.topic is None or not natives:
        return part.said
    keys = session.key.under_every_name()
    found = [one for key in keys for one in sessions.page(tx, before=None, prefix=str(key), limit=_MOST_SESSIONS)]
    live = [one.id for one in found if one.key in keys and not one.imported]
    known = {native for id_ in live for native in messages.known_natives(tx, id_, natives)}
    return [one for one in part.said if one.message.native_id not in known]


def _is_known(tx: Tx, draft: AdmittedMemory) -> bool:
    """Return whether a live memory has the key, or without one the text: what is the owner's must not change."""
    if draft.key is not None:
        # Names that differ by case alone are two entities, whose texts are alike.
        return memories.find_by_key(tx, draft.key, draft.project) is not None
    return bool(memories.alike(tx, fingerprint(draft.content), draft.kind, draft.project))


def _is_changed(tx: Tx, draft: AdmittedMemory) -> bool:
    """Return whether the vault has another text under the key: it stays, and that is told."""
    held = memories.find_by_key(tx, draft.key, draft.project) if draft.key else None
    return held is not None and held.content != draft.content
