"""Builds a context for a model: profile, learnings, hits and recent messages, within a token budget."""

import secrets
from collections.abc import Mapping, Sequence, Set
from dataclasses import replace

from recollectum.context.compiler import compile_context
from recollectum.context.window import FARTHEST
from recollectum.domain.context import MAX_TOKENS, Budget, Context, LeftOut, PartKind, Parts, RecalledText
from recollectum.domain.errors import InvalidInput
from recollectum.domain.files.project import ProjectScope
from recollectum.domain.hit import Hit, SourceKind
from recollectum.domain.learning import DEFAULT_AGENT
from recollectum.domain.memory import Kind
from recollectum.domain.message import Message, Role, calls_answered
from recollectum.domain.records import dataclass
from recollectum.domain.session import Session
from recollectum.policy.clock import ClockReading
from recollectum.recall import pipeline
from recollectum.recall.pipeline import Arms
from recollectum.recall.query import RecallQuery
from recollectum.recall.vectors.query import VectorQuery
from recollectum.settings.model import ContextSettings
from recollectum.settings.values import parse_floor, split_sources
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import messages, summaries
from recollectum.storage.tables.index.search_filters import Filters
from recollectum.storage.tables.learning import profiles
from recollectum.storage.tables.learning.profiles import Selection
from recollectum.storage.tables.trail import quarantines
from recollectum.text.cleaning import clean
from recollectum.text.tokens import counter_for
from recollectum.vault.context.profile import PreparedProfile, cache_profile, load_profile, profile_sources
from recollectum.vault.files.projects import (
    ProjectPlace,
    ids_of_session,
    load_scope,
    parse_optional_place,
    scope_of,
)
from recollectum.vault.messages import get_session
from recollectum.vault.notes import global_notes
from recollectum.vault.refresh import read_indexed, refresh_before_search
from recollectum.vault.runtime import VaultRuntime

#: More than fits into the share of any usual budget.
MOST_LEARNINGS = 60
_LEARNINGS = (Kind.CORRECTION, Kind.PREFERENCE, Kind.PATTERN, Kind.TOOL_USAGE)


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonKnowledge:
    """What the agent knows about the person, most important first."""

    #: None when nothing is known.
    profile: PreparedProfile | None
    learnings: tuple[str, ...]
    #: The memory that a line is, word for word.
    memory_of: Mapping[str, str]


def load_person_knowledge(
    tx: Tx, reading: ClockReading, *, agent: str | None, learner: str | None, projects: tuple[str, ...] | None
) -> PersonKnowledge:
    """Return the profile for one agent or for all, with that agent's own learnings and the shared ones.

    Of projects, only the learnings of those with these root ids; None for all.
    """
    wanted = (*profile_sources(agent), Selection(_LEARNINGS, learner, MOST_LEARNINGS, projects=projects))
    facts, work, told = profiles.select(tx, reading, *wanted)
    made = load_profile(tx, reading, agent, [*facts, *work])
    bullets = profile_lines(made)
    # A preference may be part of the profile already.
    learned = [one for one in told if one.content not in bullets]
    return PersonKnowledge(
        profile=made,
        learnings=tuple(one.content for one in learned),
        # A line that a model wrote, or that was shortened, is not among them.
        memory_of={
            line: one.id for one in (*facts, *work, *learned) for line in (one.content, " ".join(one.content.split()))
        },
    )


def profile_lines(ready: PreparedProfile | None) -> tuple[str, ...]:
    """Return the lines of a profile."""
    return tuple(bullet.text for bullet in ready.profile.bullets) if ready else ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RecentMessages:
    """The last messages of a conversation."""

    #: Oldest first.
    messages: Sequence[Message] = ()
    #: How many older messages there are.
    earlier: int = 0


def load_recent_messages(tx: Tx, session: Session, most: int, aside: Set[str]) -> RecentMessages:
    """Return the last messages without quarantined ones, with the tool calls of their results and their question."""
    if most == 0:
        return RecentMessages(earlier=session.message_count)
    # One message more than the limit shows whether the oldest turn is complete.
    said = messages.latest(tx, session.id, before=None, limit=most + 1)
    if said and _lacks_calls(said):
        said = messages.latest(tx, session.id, before=None, limit=most + 1 + FARTHEST)
    if said and all(one.role is not Role.USER for one in said):
        said = [*_find_question(tx, session.id, said[0].position), *said]
    shown = [one for one in said if one.id not in aside] if aside else said
    return RecentMessages(messages=shown, earlier=max(0, session.message_count - len(said)))


def last_question(tx: Tx, session_id: str) -> str:
    """Return the person's last message in a session; empty when there is none."""
    start = messages.turn_start(tx, session_id, 1)
    found = messages.after(tx, session_id, start - 1, 1)
    return found[0].text if found and found[0].role is Role.USER else ""


def _lacks_calls(said: Sequence[Message]) -> bool:
    """Return whether the call of a tool result is further back."""
    if said[0].role is Role.TOOL:
        return True
    made = {call.id for one in said for call in one.tool_calls}
    return any(calls_answered(one) - made for one in said if one.role is Role.TOOL)


def _find_question(tx: Tx, session_id: str, before: int) -> list[Message]:
    start = messages.turn_start(tx, session_id, 1)
    found = messages.after(tx, session_id, start - 1, 1) if start < before else []
    return found if found and found[0].role is Role.USER else []


#: A larger limit is refused as a mistake.
MAX_COUNT = 10_000
#: Only the start of a long question is used: the rest is pasted text, which would match itself.
_MAX_QUESTION = 2000
#: A random mark that no stored text can contain, so that none can close the fence.
_MARK_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextRequest:
    """The parameters of a context; None means the value of the settings."""

    query: str = ""
    session_id: str | None = None
    tokens: int | None = None
    messages: int | None = None
    memories: int | None = None
    #: The name of the model that will read it, which decides how tokens are counted.
    model: str | None = None
    agent: str | None = None
    mark: str | None = None
    project: str | None = None
    all_projects: bool = False

    def budget(self, rules: ContextSettings) -> Budget:
        """Return the effective limits."""
        return Budget(
            tokens=_check_number("tokens", self.tokens, rules.tokens, 1, MAX_TOKENS),
            messages=_check_number("messages", self.messages, rules.messages, 0, MAX_COUNT),
            memories=_check_number("memories", self.memories, rules.memories, 0, MAX_COUNT),
        )


def build_context(runtime: VaultRuntime, wanted: ContextRequest) -> Context:
    """Build the context, never over its budget; the same vault state and mark give the same context."""
    budget = wanted.budget(runtime.settings.context)
    refresh_before_search(runtime)
    asked = clean(wanted.query)[:_MAX_QUESTION] or _load_last_question(runtime, wanted.session_id)
    # Before the snapshot, so that no transaction waits for a model.
    nearest, _ = runtime.nearest(asked) if asked else (None, None)
    owner = runtime.gate.owner
    agent = (owner and owner.agent) or DEFAULT_AGENT
    rules = runtime.settings.recall
    sources, floor = split_sources(rules.sources), parse_floor(rules.floor)
    place = parse_optional_place(wanted.project, runtime.gate)
    loading = _Loading(wanted, asked, budget, sources, nearest, floor, agent, place)
    (loaded, made, at, replica), unindexed = read_indexed(
        runtime, lambda tx, reading: (*loading.parts(tx, reading), reading.now, tx.from_replica)
    )
    if made:
        cache_profile(runtime, wanted.agent, made)
    notes, unread = _notes(runtime)
    mark = secrets.token_hex(_MARK_BYTES) if wanted.mark is None else wanted.mark
    made = compile_context(replace(loaded, notes=notes), budget, counter_for(wanted.model), mark=mark)
    made = replace(made, ledger=replace(made.ledger, replica=replica)) if replica else made
    runtime.note_served(made.whole, at)
    runtime.note_uses(one for part in made.ledger.parts if part.kind is PartKind.MEMORY for one in part.ids)
    if unindexed is not None:
        made = _with_left_out(made, LeftOut(kind=PartKind.MESSAGE, count=1, ids=(), why=unindexed))
    return made if unread is None else _with_left_out(made, unread)


def _notes(runtime: VaultRuntime) -> tuple[str, LeftOut | None]:
    """Return the global notes; an unreadable file is left out, and the ledger says so."""
    try:
        return global_notes.read_global_notes(runtime).text, None
    except InvalidInput as error:
        return "", LeftOut(kind=PartKind.NOTES, count=1, ids=(), why=str(error))


def _with_left_out(made: Context, more: LeftOut) -> Context:
    return replace(made, ledger=replace(made.ledger, left_out=(more, *made.ledger.left_out)))


@dataclass(frozen=True, slots=True)
class _Loading:
    """The parts of a context, loaded in one snapshot."""

    wanted: ContextRequest
    asked: str
    budget: Budget
    sources: Sequence[SourceKind]
    nearest: VectorQuery | None
    #: The score that the best recalled text must reach; None for the floor of the calibration.
    floor: float | None
    #: The agent whose learnings are included when neither the caller nor the session names one.
    agent: str
    #: The project that the caller names.
    place: ProjectPlace | None

    def parts(self, tx: Tx, reading: ClockReading) -> tuple[Parts, PreparedProfile | None]:
        """Load all parts except the notes, which are a file, and the profile, which may be new."""
        named, session_id = self.wanted.agent, self.wanted.session_id
        session = get_session(tx, session_id) if session_id else None
        aside = quarantines.of_session(tx, session.id) if session else frozenset[str]()
        said = load_recent_messages(tx, session, self.budget.messages, aside) if session else RecentMessages()
        learner = named or (session.key.agent if session else self.agent)
        scope = self._scope(tx, session)
        mine = scope.ids if scope and not self.wanted.all_projects else None
        known = load_person_knowledge(tx, reading, agent=named, learner=learner, projects=mine)
        parts = Parts(
            profile=profile_lines(known.profile),
            learnings=known.learnings,
            memory_of=known.memory_of,
            recalled=self._recalled(tx, reading, len(said.messages), scope),
            # A summary may repeat quarantined text.
            summary=summaries.find(tx, session.id) if session and not aside else None,
            messages=said.messages,
            earlier=said.earlier,
        )
        return parts, known.profile

    def _scope(self, tx: Tx, session: Session | None) -> ProjectScope | None:
        """Return the scope of the given project, else of the session's, else of none."""
        if self.place is not None or session is None:
            return load_scope(tx, self.place)
        return scope_of(tx, ids_of_session(tx, session))

    def _recalled(self, tx: Tx, reading: ClockReading, said: int, scope: ProjectScope | None) -> list[RecalledText]:
        if not self.asked or not self.budget.memories:
            return []
        some = tuple(self.sources) if len(self.sources) < len(SourceKind) else None
        # More than needed, because the message window may contain some of them already.
        most = self.budget.memories + said
        query = RecallQuery(
            text=self.asked,
            limit=most,
            filters=Filters(sources=some, scope=None if self.wanted.all_projects else scope),
            answers_only=True,
            floor=self.floor,
            near=scope,
        )
        found = pipeline.cut_weak(query, pipeline.find(tx, reading, query, Arms(self.nearest)))
        return [_from_hit(hit) for _, hit in found.hits]


def _load_last_question(runtime: VaultRuntime, session_id: str | None) -> str:
    """Return the person's last message in a session, which the next reply answers."""
    if session_id is None:
        return ""
    question = runtime.read(lambda tx, _: last_question(tx, get_session(tx, session_id).id), on_replica=True)
    return question[:_MAX_QUESTION]


def _from_hit(hit: Hit) -> RecalledText:
    source = hit.source
    if source.memory_id is not None:
        id, place = source.memory_id, f"memory {source.memory_id}"
    elif source.message_id is not None:
        id, place = source.message_id, f"message {source.position} of {source.session_id}"
    else:
        id, place = str(source), f"note {source}"
    return RecalledText(
        id=id, text=hit.text, source=place, trust=hit.trust, author=hit.author or "unknown", at=hit.created_at
    )


def _check_number(name: str, given: int | None, usual: int, least: int, most: int) -> int:
    if given is None:
        return usual
    if not least <= given <= most:
        raise InvalidInput(f"{name} {given} is out of range; use {least} to {most}")
    return given
