"""Gives one caller one owner's vault: memories, sessions, recall and context, and the groups of the other services."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

from recollectum.domain.access.caller import Scope
from recollectum.domain.access.owner import Owner
from recollectum.domain.hit import RecallResult, SourceKind
from recollectum.policy.actions import Action
from recollectum.policy.clock import ClockReading
from recollectum.recall.query import to_source, to_trust
from recollectum.recall.rerank import RerankScores, search_with_rerank
from recollectum.recall.result_limits import CAP_BY_SETTING, TrustLevels, cap_untrusted, fit_token_budget
from recollectum.recall.search import search
from recollectum.settings.model import split_sources
from recollectum.storage.port import Tx
from recollectum.storage.tables.index.search_filters import Filters
from recollectum.text.cleaning import clean
from recollectum.vault.admin import VaultAdmin, VaultPrivacy
from recollectum.vault.gate import Gate, operation
from recollectum.vault.intake.draft import check_aware, check_limit, checked_kind
from recollectum.vault.memories.service import Memories
from recollectum.vault.purge.environment import PurgeEnvironment
from recollectum.vault.refresh import refresh_before_search
from recollectum.vault.runtime import VaultRuntime
from recollectum.vault.service import Service
from recollectum.vault.sessions.service import Sessions

if TYPE_CHECKING:
    from recollectum.domain.context import Context
    from recollectum.vault.learnings.service import Learnings

_MOST_TOKENS = 10_000_000


class Vault:
    """One owner's vault, as one caller may use it."""

    learnings: Service["Learnings"] = Service(
        "learnings.service.Learnings", "What agents learned of how to work with the person."
    )

    def __init__(self, owner: Owner, runtime: VaultRuntime, environment: PurgeEnvironment | None = None) -> None:
        self.owner = owner
        self.memories = Memories(runtime)
        self.sessions = Sessions(runtime)
        self.admin = VaultAdmin(runtime)
        self.privacy = VaultPrivacy(runtime, environment)
        self._runtime = runtime

    @property
    def gate(self) -> Gate:
        """The gate every operation passes."""
        return self._runtime.gate

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
