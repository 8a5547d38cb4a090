"""Vault: everything remembered for one owner, and the way to ask for it."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollectum.domain.caller import Permission, Scope
from recollectum.domain.citation import Citation
from recollectum.domain.hit import Recalled, SourceKind
from recollectum.domain.owner import Owner
from recollectum.policy.clock import Reading
from recollectum.recall.budget import within_tokens
from recollectum.recall.filters import Filters, to_source, to_trust
from recollectum.recall.rerank import Judged, twice
from recollectum.recall.search import search
from recollectum.recall.untrusted import MOST, Ways, hold_back
from recollectum.settings.model import split_sources
from recollectum.storage.port import Tx
from recollectum.storage.tables import memories, sessions
from recollectum.text.cleaning import clean
from recollectum.vault.checking import rebuild
from recollectum.vault.citations import citations_of
from recollectum.vault.draft import check_aware, check_limit, checked_kind
from recollectum.vault.footing import Footing
from recollectum.vault.gate import Gate, operation
from recollectum.vault.looking import look_before_search
from recollectum.vault.memories import Memories, live
from recollectum.vault.purge_ground import Ground
from recollectum.vault.sessions import Sessions
from recollectum.vault.totals import Totals

if TYPE_CHECKING:
    from recollectum.domain.context import Context
    from recollectum.vault.checkpoints import Checkpoints
    from recollectum.vault.consolidation import Consolidation
    from recollectum.vault.contacts import Contacts
    from recollectum.vault.events import Events
    from recollectum.vault.global_notes import GlobalNotesFile
    from recollectum.vault.index import Index
    from recollectum.vault.learnings import Learnings
    from recollectum.vault.lifecycle import Lifecycle
    from recollectum.vault.notes import Notes
    from recollectum.vault.profile import Profiles
    from recollectum.vault.purge import Purge
    from recollectum.vault.quarantine import Quarantines
    from recollectum.vault.review import Review
    from recollectum.vault.summaries import Summaries
    from recollectum.vault.transcript_sync import Transcripts
    from recollectum.vault.trash import Trash
    from recollectum.vault.undo import Undo

_MOST_TOKENS = 10_000_000


class Vault:
    """One owner's vault, as one caller may use it."""

    def __init__(self, owner: Owner, footing: Footing, ground: Ground | None = None) -> None:
        self.owner = owner
        self.memories = Memories(footing)
        self.sessions = Sessions(footing)
        self._footing = footing
        self._ground = ground

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

    # The services below are loaded when they are first asked for: few programs need all of them.

    @property
    def contacts(self) -> "Contacts":
        """Whom the memories tell of, and how they are reached."""
        from recollectum.vault.contacts import Contacts  # noqa: PLC0415 - see above

        return Contacts(self._footing)

    @property
    def events(self) -> "Events":
        """What happened here, in order."""
        from recollectum.vault.events import Events  # noqa: PLC0415 - see above

        return Events(self._footing)

    @property
    def lifecycle(self) -> "Lifecycle":
        """What time makes due."""
        from recollectum.vault.lifecycle import Lifecycle  # noqa: PLC0415 - see above

        return Lifecycle(self._footing)

    @property
    def index(self) -> "Index":
        """What recall searches in."""
        from recollectum.vault.index import Index  # noqa: PLC0415 - see above

        return Index(self._footing)

    @property
    def notes(self) -> "Notes":
        """Folders of the person's own files."""
        from recollectum.vault.notes import Notes  # noqa: PLC0415 - see above

        return Notes(self._footing)

    @property
    def summaries(self) -> "Summaries":
        """Summaries of what a window no longer shows."""
        from recollectum.vault.summaries import Summaries  # noqa: PLC0415 - see above

        return Summaries(self._footing)

    @property
    def checkpoints(self) -> "Checkpoints":
        """Places in conversations to go back to."""
        from recollectum.vault.checkpoints import Checkpoints  # noqa: PLC0415 - see above

        return Checkpoints(self._footing)

    @property
    def learnings(self) -> "Learnings":
        """What agents learned of how to work with the person."""
        from recollectum.vault.learnings import Learnings  # noqa: PLC0415 - see above

        return Learnings(self._footing)

    @property
    def global_notes(self) -> "GlobalNotesFile":
        """The file that stands in every context."""
        from recollectum.vault.global_notes import GlobalNotesFile  # noqa: PLC0415 - see above

        return GlobalNotesFile(self._footing)

    @property
    def transcripts(self) -> "Transcripts":
        """Files of other agents that are followed as they grow."""
        from recollectum.vault.transcript_sync import Transcripts  # noqa: PLC0415 - see above

        return Transcripts(self._footing)

    @property
    def profile(self) -> "Profiles":
        """Who the person is, in a few points."""
        from recollectum.vault.profile import Profiles  # noqa: PLC0415 - see above

        return Profiles(self._footing)

    @property
    def consolidation(self) -> "Consolidation":
        """What turns conversations into what is known."""
        from recollectum.vault.consolidation import Consolidation  # noqa: PLC0415 - see above

        return Consolidation(self._footing)

    @property
    def purge(self) -> "Purge":
        """Erasing for good, with a receipt."""
        from recollectum.vault.purge import Purge  # noqa: PLC0415 - see above

        return Purge(self._footing, self._ground)

    @property
    def trash(self) -> "Trash":
        """What was deleted and can still come back."""
        from recollectum.vault.trash import Trash  # noqa: PLC0415 - see above

        return Trash(self._footing)

    @property
    def quarantine(self) -> "Quarantines":
        """What is set aside, by the source it came from."""
        from recollectum.vault.quarantine import Quarantines  # noqa: PLC0415 - see above

        return Quarantines(self._footing)

    @property
    def undo(self) -> "Undo":
        """The way back, and what changed since a time."""
        from recollectum.vault.undo import Undo  # noqa: PLC0415 - see above

        return Undo(self._footing)

    @property
    def review(self) -> "Review":
        """What waits for a person to decide."""
        from recollectum.vault.review import Review  # noqa: PLC0415 - see above

        return Review(self._footing)

    @operation(Permission.READ, Scope.USER)
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
    ) -> Recalled:
        """What the vault knows about a text, best first, each hit with the place it came from and its reasons.

        With `tokens` the hits are cut to an estimated budget, the best ones first. Of what tools and strangers wrote
        one hit is shown at most, unless `untrusted` or `trust` says otherwise; `held_back` says how many were not.
        Without `meaning` words alone are compared, and no model is waited for.
        """
        rules = self._footing.settings.recall
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
        look_before_search(self._footing)
        asked = clean(query)
        # Before the snapshot: no transaction waits for a model.
        nearest, missing = self._footing.meaning.prepare(self._footing.database, asked) if meaning else (None, None)
        most = MOST[rules.untrusted if untrusted is None else "all" if untrusted else "none"]

        def answer(judged: Judged | None) -> Recalled:
            def load(tx: Tx, reading: Reading) -> Recalled:
                def look(trusts: Ways | None) -> Recalled:
                    chosen = filters if trusts is None else replace(filters, trusts=trusts)
                    return search(tx, asked, reading, chosen, size, nearest, missing, judged)

                return hold_back(tx, look, size, None if trust is not None and untrusted is None else most)

            return self._footing.read(load)

        found = twice(answer, asked, self._footing.rerankers, rules.rerank_head)
        return found if tokens is None else within_tokens(found, check_limit(tokens, _MOST_TOKENS, "tokens"))

    @operation(Permission.READ, Scope.USER)
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
        from recollectum.vault.context import Wanted, build_context  # noqa: PLC0415

        wanted = Wanted(
            query=query,
            session_id=session_id,
            tokens=tokens,
            messages=messages,
            memories=memories,
            model=model,
            agent=agent,
            mark=mark,
        )
        return build_context(self._footing, wanted)

    @operation(Permission.READ, Scope.USER)
    def citations(self, memory_id: str) -> list[Citation]:
        """The places in conversations that a memory came from, in the order in which they were said."""
        return self._footing.read(lambda tx, reading: citations_of(tx, live(tx, memory_id, reading)))

    @operation(Permission.READ, Scope.USER)
    def totals(self) -> Totals:
        """How much the vault holds."""

        def load(tx: Tx, _: Reading) -> Totals:
            conversations, said = sessions.totals(tx)
            return Totals(memories=memories.counts(tx), sessions=conversations, messages=said)

        return self._footing.read(load)

    @operation(Permission.READ, Scope.USER)
    def clock(self) -> Reading:
        """The time the vault goes by, and whether the clock on the wall is in doubt."""
        return self._footing.read(lambda _, reading: reading)

    @operation(Permission.WRITE, Scope.USER)
    def rebuild_index(self) -> int:
        """Make the index again from the rows; how many pieces it has."""
        return self._footing.write(lambda tx, _: rebuild(tx))
