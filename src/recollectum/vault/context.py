"""Building a context: what is known, recalled and said, loaded in one snapshot and compiled inside a budget."""

import secrets
from collections.abc import Sequence
from dataclasses import dataclass, replace

from recollectum.context.compiling import compile_context
from recollectum.domain.context import MAX_TOKENS, Budget, Context, LeftOut, PartKind, Parts, RecalledText
from recollectum.domain.errors import InvalidInput
from recollectum.domain.hit import Hit, SourceKind
from recollectum.domain.learning import DEFAULT_AGENT
from recollectum.policy.clock import Reading
from recollectum.recall.filters import Filters
from recollectum.recall.nearest import Nearest
from recollectum.recall.search import search
from recollectum.settings.model import ContextSettings, split_sources
from recollectum.storage.port import Tx
from recollectum.storage.tables import quarantines, summaries
from recollectum.text.cleaning import clean
from recollectum.text.tokens import counter
from recollectum.vault import global_notes
from recollectum.vault.context_known import load_known, texts
from recollectum.vault.context_window import Said, last_question, load_window
from recollectum.vault.footing import Footing
from recollectum.vault.looking import look_before_search
from recollectum.vault.profile import Ready, keep_profile
from recollectum.vault.transcript import existing

#: Past this a limit is a mistake.
MAX_COUNT = 10_000
#: Of a question; the rest of a long one is a paste, and would find itself.
_MAX_QUESTION = 2000
#: What no stored text can know, so that none can close the fence.
_MARK_BYTES = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What a context is asked for; what is None is left to the settings."""

    query: str = ""
    session_id: str | None = None
    tokens: int | None = None
    messages: int | None = None
    memories: int | None = None
    #: The name of the model that will read it: how its tokens are counted.
    model: str | None = None
    agent: str | None = None
    mark: str | None = None

    def budget(self, rules: ContextSettings) -> Budget:
        """The limits in force."""
        return Budget(
            tokens=_checked("tokens", self.tokens, rules.tokens, 1, MAX_TOKENS),
            messages=_checked("messages", self.messages, rules.messages, 0, MAX_COUNT),
            memories=_checked("memories", self.memories, rules.memories, 0, MAX_COUNT),
        )


def build_context(footing: Footing, wanted: Wanted) -> Context:
    """The context, never over its budget; the same for the same state of the vault and the same mark."""
    budget = wanted.budget(footing.settings.context)
    look_before_search(footing)
    asked = clean(wanted.query)[:_MAX_QUESTION] or _asked_last(footing, wanted.session_id)
    # Before the snapshot: no transaction waits for a model.
    nearest, _ = footing.meaning.prepare(footing.database, asked) if asked else (None, None)
    owner = footing.gate.owner
    agent = (owner and owner.agent) or DEFAULT_AGENT
    loading = _Loading(wanted, asked, budget, split_sources(footing.settings.recall.sources), nearest, agent)
    loaded, made = footing.read(loading.parts)
    if made:
        keep_profile(footing, wanted.agent, made)
    notes, unread = _notes(footing)
    mark = secrets.token_hex(_MARK_BYTES) if wanted.mark is None else wanted.mark
    made = compile_context(replace(loaded, notes=notes), budget, counter(wanted.model), mark=mark)
    return made if unread is None else _with_left_out(made, unread)


def _notes(footing: Footing) -> tuple[str, LeftOut | None]:
    """The global notes; a file that cannot be read costs only itself, and the ledger says so."""
    try:
        return global_notes.read(footing).text, None
    except InvalidInput as error:
        return "", LeftOut(kind=PartKind.NOTES, count=1, ids=(), why=str(error))


def _with_left_out(made: Context, more: LeftOut) -> Context:
    return replace(made, ledger=replace(made.ledger, left_out=(more, *made.ledger.left_out)))


@dataclass(frozen=True, slots=True)
class _Loading:
    """One snapshot's worth of parts."""

    wanted: Wanted
    asked: str
    budget: Budget
    sources: Sequence[SourceKind]
    nearest: Nearest | None
    #: Whose learnings are told when neither the caller nor a session says it.
    agent: str

    def parts(self, tx: Tx, reading: Reading) -> tuple[Parts, Ready | None]:
        """Everything but the notes, which lie in a file; and the profile, which may be new."""
        named, session_id = self.wanted.agent, self.wanted.session_id
        session = existing(tx, session_id) if session_id else None
        said = load_window(tx, session, self.budget.messages) if session else Said()
        learner = named or (session.key.agent if session else self.agent)
        known = load_known(tx, reading, agent=named, learner=learner)
        parts = Parts(
            profile=texts(known.profile),
            learnings=known.learnings,
            recalled=self._recalled(tx, reading, len(said.messages)),
            # A summary may repeat what is set aside.
            summary=summaries.find(tx, session.id) if session and not quarantines.of_session(tx, session.id) else None,
            messages=said.messages,
            earlier=said.earlier,
        )
        return parts, known.profile

    def _recalled(self, tx: Tx, reading: Reading, said: int) -> list[RecalledText]:
        if not self.asked or not self.budget.memories:
            return []
        some = tuple(self.sources) if len(self.sources) < len(SourceKind) else None
        # As many more as the window may turn out to hold already.
        most = self.budget.memories + said
        hits = search(tx, self.asked, reading, Filters(sources=some), most, self.nearest, None)
        return [_from_hit(hit) for hit in hits]


def _asked_last(footing: Footing, session_id: str | None) -> str:
    """What the person said last in a session, which is what the next reply is about."""
    if session_id is None:
        return ""
    question = footing.read(lambda tx, _: last_question(tx, existing(tx, session_id).id))
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


def _checked(name: str, given: int | None, usual: int, least: int, most: int) -> int:
    if given is None:
        return usual
    if not least <= given <= most:
        raise InvalidInput(f"{name} {given} is out of range; use {least} to {most}")
    return given
