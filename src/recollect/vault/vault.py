"""Vault: everything remembered for one owner, and the way to ask for it."""

import secrets
from datetime import datetime

from recollect.context.assemble import assemble
from recollect.domain.caller import Permission, Scope
from recollect.domain.context import Budget, Candidate, Context
from recollect.domain.hit import Recalled, SourceKind
from recollect.domain.owner import Owner
from recollect.policy.clock import Reading
from recollect.recall.budget import within_tokens
from recollect.recall.filters import Filters, to_source, to_trust
from recollect.recall.search import search
from recollect.settings.model import split_sources
from recollect.storage.port import Tx
from recollect.storage.tables import memories, sessions
from recollect.text.cleaning import clean
from recollect.text.tokens import estimate
from recollect.vault.checking import Health, check, rebuild
from recollect.vault.context import load_memories, load_messages
from recollect.vault.draft import check_aware, check_limit, checked_kind
from recollect.vault.events import Events
from recollect.vault.footing import Footing
from recollect.vault.gate import Gate, operation
from recollect.vault.index import Index
from recollect.vault.lifecycle import Lifecycle
from recollect.vault.looking import look_before_search
from recollect.vault.memories import Memories
from recollect.vault.notes import Notes
from recollect.vault.sessions import Sessions
from recollect.vault.totals import Totals
from recollect.vault.transcript import existing
from recollect.vault.transcript_sync import Transcripts

MAX_TOKENS = 10_000_000


class Vault:
    """One owner's vault, as one caller may use it."""

    def __init__(self, owner: Owner, footing: Footing) -> None:
        self.owner = owner
        self.memories = Memories(footing)
        self.sessions = Sessions(footing)
        self.events = Events(footing)
        self.lifecycle = Lifecycle(footing)
        self.index = Index(footing)
        self.notes = Notes(footing)
        self.transcripts = Transcripts(footing)
        self._footing = footing

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._footing.gate

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
    ) -> Recalled:
        """What the vault knows about a text, best first, each hit with the place it came from and its reasons.

        With `tokens` the hits are cut to an estimated budget, the best ones first.
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
        nearest, missing = self._footing.meaning.prepare(self._footing.database, asked)
        found = self._footing.read(lambda tx, reading: search(tx, asked, reading, filters, size, nearest, missing))
        return found if tokens is None else within_tokens(found, check_limit(tokens, MAX_TOKENS, "tokens"))

    @operation(Permission.READ, Scope.USER)
    def context(self, query: str = "", *, session_id: str | None = None, tokens: int | None = None) -> Context:
        """A text for a model, never over its token budget: what is remembered, then the session's last turns."""
        rules = self._footing.settings.context
        size = check_limit(rules.tokens if tokens is None else tokens, MAX_TOKENS, "tokens")
        budget = Budget(tokens=size, messages=rules.messages, memories=rules.memories)

        def load(tx: Tx, reading: Reading) -> tuple[list[Candidate], list[Candidate]]:
            said = load_messages(tx, existing(tx, session_id).id, budget.messages) if session_id else []
            asked = clean(query) or (said[-1].text if said else "")
            return load_memories(tx, asked, reading, budget.memories, nearest), said

        nearest = self._footing.meaning.prepare(self._footing.database, clean(query))[0] if query else None
        known, said = self._footing.read(load)
        # A mark that no stored text can know, so that none can close the fence.
        return assemble(known, said, budget, mark=secrets.token_hex(4), estimate=estimate)

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

    @operation(Permission.READ, Scope.USER)
    def check(self) -> Health:
        """Whether the rows, the versions and the index agree."""
        return self._footing.read(lambda tx, _: check(tx))

    @operation(Permission.WRITE, Scope.USER)
    def rebuild_index(self) -> int:
        """Make the index again from the rows; how many pieces it has."""
        return self._footing.write(lambda tx, _: rebuild(tx))
