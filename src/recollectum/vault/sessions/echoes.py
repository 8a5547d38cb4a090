"""Finds and removes echoes that were stored in conversations before text was filtered on its way in."""

from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import field, replace

from recollectum.context.asides import own_words
from recollectum.context.fences import LASTING_MARK, RECALLED, SAID, SUMMARY
from recollectum.domain.access.caller import Scope
from recollectum.domain.event import EventType
from recollectum.domain.hit import SourceKind
from recollectum.domain.memory import State
from recollectum.domain.message import Content, Message, Part, Role, text_of
from recollectum.domain.proposal import Span
from recollectum.domain.records import dataclass
from recollectum.domain.session import name_agent
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.policy.lifecycle import LIVE
from recollectum.recall.index.chunk_index import index_message
from recollectum.recall.index.passages import message_hashes
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import citations, memories, messages, served, sessions, summaries
from recollectum.storage.tables.content.citations import MovedSpan
from recollectum.storage.tables.index import chunks, embedding_cache
from recollectum.storage.tables.learning import forgotten_spans, proposals
from recollectum.storage.tables.trail import events, quarantines
from recollectum.text.tokens import estimate
from recollectum.vault.deferred.digests import find_key
from recollectum.vault.erasure import erase_remains, mark_remains_due
from recollectum.vault.gate import operation
from recollectum.vault.intake.echoes import ECHO_REMOVED, EchoFilter
from recollectum.vault.intake.kept_secrets import queue_message_secrets, queue_secret_deletion, queue_summary_secrets
from recollectum.vault.intake.served import ServedBlocks
from recollectum.vault.memories import changes
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import VaultService

#: How many messages one statement looks through.
STEP = 2000
#: What a message with an echo contains: one of these marks, a label, or a wrapper of Gemini CLI. Few, because every
#: message is searched for each.
_WANTED = (LASTING_MARK, *(f"/{name}-" for name in (RECALLED, SUMMARY, SAID)), "; trust: ", "_context>")
#: The agent of Gemini CLI's sessions.
_GEMINI = "gemini-cli"


@dataclass(slots=True, kw_only=True)
class EchoReport:
    """What holds text that Recollectum itself had inserted, by id, and what became of it."""

    messages: list[str] = field(default_factory=list[str])
    #: Memories whose every source was such a text; removing moves them to the trash.
    memories: list[str] = field(default_factory=list[str])
    #: Proposals whose every source was such a text.
    proposals: list[str] = field(default_factory=list[str])
    removed: bool = False
    #: Whether no byte of the removed text is left in the vault's files.
    erased: bool = True


class StoredEchoes(VaultService):
    """The echoes in one vault's conversations, of times before they were recognised on their way in."""

    @operation(Action.SESSION_READ, Scope.USER, also=(Action.MEMORY_READ,))
    def preview(self, progress: Callable[[int], None] | None = None) -> EchoReport:
        """Return which messages hold an echo, and which memories and proposals come from nothing else."""
        ids, lost = list[str](), _LostSources()
        for before, after in self._found(progress):
            ids.append(before.id)
            self._runtime.read(lambda tx, _, b=before, a=after: lost.add(tx, b, a))
        memories_lost, proposals_lost = self._runtime.read(lambda tx, _: (lost.memories(tx), lost.proposals(tx)))
        return EchoReport(messages=ids, memories=memories_lost, proposals=proposals_lost)

    @operation(Action.SESSION_DELETE, Scope.USER, reads=True, also=(Action.MEMORY_DELETE,))
    def remove(self, progress: Callable[[int], None] | None = None) -> EchoReport:
        """Cut the echoes out of messages for good, and move memories that come from nothing else to the trash.

        A message that was only an echo stays as an empty one, so that the others keep their places.
        """
        report = EchoReport(removed=True)
        for before, _ in self._found(progress):
            self._runtime.write(lambda tx, reading, m=before: self._clean(tx, reading, m.id, report), frees=True)
        if report.messages:
            self._runtime.session_cache.clear()
            report.erased = erase_remains(self._runtime)
        return report

    def _found(self, progress: Callable[[int], None] | None) -> Iterator[tuple[Message, Message]]:
        at, last = 0, self._runtime.read(lambda tx, _: messages.last_number(tx))
        while at < last:
            up_to = min(at + STEP, last)
            yield from self._runtime.read(lambda tx, _, a=at, u=up_to: list(find_echoes(tx, a, u)))
            if progress:
                progress(up_to - at)
            at = up_to

    def _clean(self, tx: Tx, reading: ClockReading, message_id: str, report: EchoReport) -> None:
        before, number = messages.find(tx, message_id), messages.number_of(tx, message_id)
        after = _Cleaner(tx).clean(before) if before else None
        if before is None or number is None or after is None:
            # Somebody else removed it meanwhile.
            return
        _rewrite(tx, number, before, after)
        _clean_title(tx, before.session_id)
        moved = _moved(before.text, after.text)
        report.messages.append(message_id)
        forgotten_spans.move(tx, message_id, moved)
        for memory_id in sorted(citations.move(tx, message_id, moved)):
            if _forget(changes.Change(tx, self._runtime.actor, reading.now), memory_id, self._runtime):
                report.memories.append(memory_id)
        report.proposals += _move_proposals(tx, message_id, moved)
        events.add(
            tx,
            EventType.EDITED,
            "session",
            before.session_id,
            at=reading.now,
            actor=self._runtime.actor,
            payload={"message": message_id, ECHO_REMOVED: after.extra[ECHO_REMOVED]},
        )
        mark_remains_due(tx)


def find_echoes(tx: Tx, after: int, up_to: int) -> Iterator[tuple[Message, Message]]:
    """Yield each message with an echo in a range of row numbers, as it is and as it is without."""
    cleaner = _Cleaner(tx)
    for message in messages.holding(tx, _WANTED, after=after, up_to=up_to):
        if kept := cleaner.clean(message):
            yield message, kept


def count_echoes(tx: Tx) -> int:
    """Return how many messages of a vault hold an echo."""
    last = messages.last_number(tx)
    return sum(1 for after in range(0, last, STEP) for _ in find_echoes(tx, after, min(after + STEP, last)))


class _Cleaner:
    """Cuts echoes out of stored messages."""

    def __init__(self, tx: Tx) -> None:
        self._tx = tx
        self._agents: dict[str, str] = {}
        self._served: ServedBlocks | None = None

    def clean(self, message: Message) -> Message | None:
        """Return a message without its echoes; None when it has none."""
        echoes = EchoFilter(self._load)
        kept = echoes.message(message)
        removed = echoes.removed
        if kept is None:
            kept = replace(message, content="", thoughts=(), extra=echoes.part(message.extra))
        if message.role is Role.USER and name_agent(self._agent(message.session_id)) == _GEMINI:
            own = _own_content(kept.content)
            removed += own != kept.content
            kept = replace(kept, content=own)
        if not removed:
            return None
        tokens = estimate(text_of(kept.content))
        return replace(kept, token_estimate=tokens, extra={**kept.extra, ECHO_REMOVED: removed})

    def _load(self) -> ServedBlocks:
        self._served = self._served or ServedBlocks(find_key(self._tx), served.list_all(self._tx))
        return self._served

    def _agent(self, session_id: str) -> str:
        if session_id not in self._agents:
            session = sessions.find(self._tx, session_id)
            self._agents[session_id] = session.key.agent if session else ""
        return self._agents[session_id]


def _own_content(content: Content) -> Content:
    return own_words(content) if isinstance(content, str) else tuple(map(_own_part, content))


def _own_part(part: Part) -> Part:
    text = part.get("text")
    own = own_words(text) if isinstance(text, str) else text
    return part if own == text else {**part, "text": own}


def _rewrite(tx: Tx, number: int, before: Message, after: Message) -> None:
    messages.rewrite(tx, after)
    chunks.remove(tx, SourceKind.SESSIONS, number)
    embedding_cache.forget(tx, message_hashes(before))
    if quarantines.holder(tx, before.id) is None:
        index_message(tx, number, after)
    queue_message_secrets(tx, before)
    sessions.shrink(tx, before.session_id, before.token_estimate - after.token_estimate)


def _clean_title(tx: Tx, session_id: str) -> None:
    """Remove what may repeat an echo: the summary, and the title and description where they contain one."""
    queue_summary_secrets(tx, session_id)
    summaries.drop(tx, session_id)
    session = sessions.find(tx, session_id)
    if session is None:
        return
    echoes = EchoFilter(lambda: ServedBlocks(find_key(tx), served.list_all(tx)))
    title, summary = (echoes.text(one) if one else one for one in (session.title, session.summary))
    if echoes.removed:
        sessions.describe(tx, replace(session, title=title or None, summary=summary or None))


def _moved(before: str, after: str) -> MovedSpan:
    """Return a function that finds the same words in the text that is left."""

    def to(start: int, stop: int) -> tuple[int, int] | None:
        words = before[start:stop]
        at = after.find(words) if words.strip() else -1
        return (at, at + len(words)) if at >= 0 else None

    return to


def _moved_spans(spans: tuple[Span, ...], message_id: str, moved: MovedSpan) -> list[Span]:
    """Return the spans that are left, at their new places."""
    left: list[Span] = []
    for span in spans:
        place = (span.start, span.end) if span.message_id != message_id else moved(span.start, span.end)
        if place:
            left.append(Span(span.message_id, *place))
    return left


def _move_proposals(tx: Tx, message_id: str, moved: MovedSpan) -> list[str]:
    """Move the spans of proposals; delete those that quote nothing any more, and return their ids."""
    gone: list[str] = []
    for one in proposals.quoting(tx, message_id):
        if left := _moved_spans(one.finding.spans, message_id, moved):
            proposals.set_spans(tx, one.id, left)
        elif one.finding.spans:
            queue_secret_deletion(tx, *proposals.remove(tx, one.id))
            gone.append(one.id)
    return gone


def _forget(change: changes.Change, memory_id: str, runtime: VaultRuntime) -> bool:
    """Move a memory to the trash; False when it is there already."""
    memory = memories.find(change.tx, memory_id)
    if memory is None or memory.state not in LIVE:
        return False
    changes.move(change, memory, State.SOFT_DELETED, runtime.retention, "its only source was an echo")
    return True


class _LostSources:
    """Collects the spans that would be gone, by the memory or proposal that they are a source of."""

    def __init__(self) -> None:
        self._of_memories: defaultdict[str, set[Span]] = defaultdict(set)
        self._of_proposals: defaultdict[str, set[Span]] = defaultdict(set)

    def add(self, tx: Tx, before: Message, after: Message) -> None:
        """Note what a message would no longer support."""
        moved = _moved(before.text, after.text)
        for memory_id, span in citations.citing(tx, before.id):
            if not moved(span.start, span.end):
                self._of_memories[memory_id].add(span)
        for one in proposals.quoting(tx, before.id):
            quoted = (span for span in one.finding.spans if span.message_id == before.id)
            self._of_proposals[one.id] |= {span for span in quoted if not moved(span.start, span.end)}

    def memories(self, tx: Tx) -> list[str]:
        """Return the live memories that would have no source left."""
        lost = (id_ for id_, gone in sorted(self._of_memories.items()) if gone >= set(citations.of(tx, id_)))
        return [id_ for id_ in lost if (memory := memories.find(tx, id_)) and memory.state in LIVE]

    def proposals(self, tx: Tx) -> list[str]:
        """Return the proposals that would have no source left."""
        found = ((id_, gone, proposals.find(tx, id_)) for id_, gone in sorted(self._of_proposals.items()) if gone)
        return [id_ for id_, gone, one in found if one and gone >= set(one.finding.spans)]
