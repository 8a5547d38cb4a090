"""Gives one caller one owner's vault: its services, recall, context and totals."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import Scope
from recollectum.domain.access.owner import Owner
from recollectum.domain.hit import RecallResult, SourceKind
from recollectum.domain.memory import Citation
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.recall.index.verification import rebuild_index
from recollectum.recall.query import to_source, to_trust
from recollectum.recall.rerank import RerankScores, search_with_rerank
from recollectum.recall.result_limits import CAP_BY_SETTING, TrustLevels, cap_untrusted, fit_token_budget
from recollectum.recall.search import search
from recollectum.settings.model import split_sources
from recollectum.storage.port import Tx
from recollectum.storage.tables.content import memories, sessions
from recollectum.storage.tables.index.search_filters import Filters
from recollectum.text.cleaning import clean
from recollectum.vault.gate import Gate, operation
from recollectum.vault.intake.draft import check_aware, check_limit, checked_kind
from recollectum.vault.memories.history import Totals, citations_of
from recollectum.vault.memories.service import Memories, get_live_memory
from recollectum.vault.purge.environment import PurgeEnvironment
from recollectum.vault.refresh import refresh_before_search
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.sessions.service import Sessions

if TYPE_CHECKING:
    from recollectum.domain.context import Context
    from recollectum.vault.consolidation.service import Consolidation
    from recollectum.vault.contacts.service import Contacts
    from recollectum.vault.context.profile import Profiles
    from recollectum.vault.events import Events
    from recollectum.vault.index import Index
    from recollectum.vault.learnings.service import Learnings
    from recollectum.vault.notes.global_notes import GlobalNotesFile
    from recollectum.vault.notes.service import Notes
    from recollectum.vault.purge.service import Purge
    from recollectum.vault.retention.lifecycle import Lifecycle
    from recollectum.vault.retention.quarantine import Quarantines
    from recollectum.vault.retention.trash import Trash
    from recollectum.vault.review.service import Review
    from recollectum.vault.sessions.checkpoints import Checkpoints
    from recollectum.vault.sessions.summaries import Summaries
    from recollectum.vault.transcripts.service import Transcripts
    from recollectum.vault.undo.service import Undo

_MOST_TOKENS = 10_000_000


class Vault:
    """One owner's vault, as one caller may use it."""

    def __init__(self, owner: Owner, runtime: VaultRuntime, environment: PurgeEnvironment | None = None) -> None:
        self.owner = owner
        self.memories = Memories(runtime)
        self.sessions = Sessions(runtime)
        self._runtime = runtime
        self._ground = environment

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._runtime.gate

    # The services below are loaded when they are first asked for: few programs need all of them.

    @property
    def contacts(self) -> "Contacts":
        """Whom the memories tell of, and how they are reached."""
        from recollectum.vault.contacts.service import Contacts  # noqa: PLC0415 - see above

        return Contacts(self._runtime)

    @property
    def events(self) -> "Events":
        """What happened here, in order."""
        from recollectum.vault.events import Events  # noqa: PLC0415 - see above

        return Events(self._runtime)

    @property
    def lifecycle(self) -> "Lifecycle":
        """What time makes due."""
        from recollectum.vault.retention.lifecycle import Lifecycle  # noqa: PLC0415 - see above

        return Lifecycle(self._runtime)

    @property
    def index(self) -> "Index":
        """What recall searches in."""
        from recollectum.vault.index import Index  # noqa: PLC0415 - see above

        return Index(self._runtime)

    @property
    def notes(self) -> "Notes":
        """Folders of the person's own files."""
        from recollectum.vault.notes.service import Notes  # noqa: PLC0415 - see above

        return Notes(self._runtime)

    @property
    def summaries(self) -> "Summaries":
        """Summaries of what a window no longer shows."""
        from recollectum.vault.sessions.summaries import Summaries  # noqa: PLC0415 - see above

        return Summaries(self._runtime)

    @property
    def checkpoints(self) -> "Checkpoints":
        """Places in conversations to go back to."""
        from recollectum.vault.sessions.checkpoints import Checkpoints  # noqa: PLC0415 - see above

        return Checkpoints(self._runtime)

    @property
    def learnings(self) -> "Learnings":
        """What agents learned of how to work with the person."""
        from recollectum.vault.learnings.service import Learnings  # noqa: PLC0415 - see above

        return Learnings(self._runtime)

    @property
    def global_notes(self) -> "GlobalNotesFile":
        """The file that stands in every context."""
        from recollectum.vault.notes.global_notes import GlobalNotesFile  # noqa: PLC0415 - see above

        return GlobalNotesFile(self._runtime)

    @property
    def transcripts(self) -> "Transcripts":
        """Files of other agents that are followed as they grow."""
        from recollectum.vault.transcripts.service import Transcripts  # noqa: PLC0415 - see above

        return Transcripts(self._runtime)

    @property
    def profile(self) -> "Profiles":
        """Who the person is, in a few points."""
        from recollectum.vault.context.profile import Profiles  # noqa: PLC0415 - see above

        return Profiles(self._runtime)

    @property
    def consolidation(self) -> "Consolidation":
        """What turns conversations into what is known."""
        from recollectum.vault.consolidation.service import Consolidation  # noqa: PLC0415 - see above

        return Consolidation(self._runtime)

    @property
    def purge(self) -> "Purge":
        """Erasing for good, with a receipt."""
        from recollectum.vault.purge.service import Purge  # noqa: PLC0415 - see above

        return Purge(self._runtime, self._ground)

    @property
    def trash(self) -> "Trash":
        """What was deleted and can still come back."""
        from recollectum.vault.retention.trash import Trash  # noqa: PLC0415 - see above

        return Trash(self._runtime)

    @property
    def quarantine(self) -> "Quarantines":
        """What is set aside, by the source it came from."""
        from recollectum.vault.retention.quarantine import Quarantines  # noqa: PLC0415 - see above

        return Quarantines(self._runtime)

    @property
    def undo(self) -> "Undo":
        """The way back, and what changed since a time."""
        from recollectum.vault.undo.service import Undo  # noqa: PLC0415 - see above

        return Undo(self._runtime)

    @property
    def review(self) -> "Review":
        """What waits for a person to decide."""
        from recollectum.vault.review.service import Review  # noqa: PLC0415 - see above

        return Review(self._runtime)

    @operation(Action.MEMORY_SEARCH, Scope.USER)
    def recall(
        self,
        query: str,
        *,
        limit: int | None = None,
        tokens: int | None = None,
        source: str | None = None,
        session_id: str | None = None,
        kind: str | None = None,
        speaker: str | None = None,
        agent: str | None = None,
        channel: str | None = None,
        trust: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        untrusted: bool | None = None,
        meaning: bool = True,
    ) -> RecallResult:
        """What the vault knows about a text, best first, each hit with the place it came from and its reasons.

        With `tokens` the hits are cut to an estimated budget, the best ones first. Of what tools and strangers wrote
        one hit is shown at most, unless `untrusted` or `trust` says otherwise; `held_back` says how many were not.
        Without `meaning` words alone are compared, and no model is waited for.
        """
        rules = self._runtime.settings.recall
        size = check_limit(min(rules.limit, rules.max) if limit is None else limit, rules.max)
        usual = split_sources(rules.sources) if source is session_id is kind is speaker is None else ()
        filters = Filters(
            sources=(to_source(source),) if source is not None else usual if 0 < len(usual) < len(SourceKind) else None,
            session_id=session_id,
            kind=None if kind is None else checked_kind(kind),
            speaker=speaker,
            agent=agent,
            channel=channel,
            trust=None if trust is None else to_trust(trust),
            since=check_aware("since", since),
            until=check_aware("until", until),
        )
        refresh_before_search(self._runtime)
        asked = clean(query)
        # Before the snapshot: no transaction waits for a model.
        nearest, missing = self._runtime.vectors.prepare(self._runtime.database, asked) if meaning else (None, None)
        most = CAP_BY_SETTING[rules.untrusted if untrusted is None else "all" if untrusted else "none"]

        def answer(judged: RerankScores | None) -> RecallResult:
            def load(tx: Tx, reading: ClockReading) -> RecallResult:
                def look(trusts: TrustLevels | None) -> RecallResult:
                    chosen = filters if trusts is None else replace(filters, trusts=trusts)
                    return search(tx, asked, reading, chosen, size, nearest, missing, judged)

                return cap_untrusted(tx, look, size, None if trust is not None and untrusted is None else most)

            return self._runtime.read(load)

        found = search_with_rerank(answer, asked, self._runtime.rerankers, rules.rerank_head)
        return found if tokens is None else fit_token_budget(found, check_limit(tokens, _MOST_TOKENS, "tokens"))

    @operation(Action.MEMORY_SEARCH, Scope.USER)
    def context(
        self,
        query: str = "",
        *,
        session_id: str | None = None,
        tokens: int | None = None,
        messages: int | None = None,
        memories: int | None = None,
        model: str | None = None,
        agent: str | None = None,
        mark: str | None = None,
    ) -> "Context":
        """What a model gets to see, never over its budget, and the ledger of it.

        `model` is the name of the one that will read it, whose tokens are counted. Without a query, what the person
        said last in the session is the query. The mark of the fences is drawn anew each time unless one is given.
        """
        # Only now: whoever asks for no context does not wait for what makes one.
        from recollectum.vault.context.build import ContextRequest, build_context  # noqa: PLC0415

        wanted = ContextRequest(
            query=query,
            session_id=session_id,
            tokens=tokens,
            messages=messages,
            memories=memories,
            model=model,
            agent=agent,
            mark=mark,
        )
        return build_context(self._runtime, wanted)

    @operation(Action.MEMORY_READ, Scope.USER)
    def citations(self, memory_id: str) -> list[Citation]:
        """The places in conversations that a memory came from, in the order in which they were said."""
        return self._runtime.read(lambda tx, reading: citations_of(tx, get_live_memory(tx, memory_id, reading)))

    @operation(Action.MEMORY_READ, Scope.USER)
    def totals(self) -> Totals:
        """How much the vault holds."""

        def load(tx: Tx, _: ClockReading) -> Totals:
            conversations, said = sessions.totals(tx)
            return Totals(memories=memories.counts(tx), sessions=conversations, messages=said)

        return self._runtime.read(load)

    @operation(Action.MEMORY_READ, Scope.USER)
    def clock(self) -> ClockReading:
        """The time the vault goes by, and whether the clock on the wall is in doubt."""
        return self._runtime.read(lambda _, reading: reading)

    @operation(Action.INDEX_WRITE, Scope.USER)
    def rebuild_index(self) -> int:
        """Make the index again from the rows; how many pieces it has."""
        return self._runtime.write(lambda tx, _: rebuild_index(tx))
