"""Recalls from a vault: checks the request, refreshes its sources, runs the pipeline, and asks the reranker."""

from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from recollectum.domain.errors import InvalidInput, ModelError
from recollectum.domain.hit import RecallResult, SourceKind, SourceName
from recollectum.domain.ids import parse_enum, parse_optional_enum
from recollectum.domain.memory import Kind, KindName, State
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust, TrustName
from recollectum.policy.actions import Action
from recollectum.recall import pipeline
from recollectum.recall.pipeline import Arms
from recollectum.recall.query import RecallQuery
from recollectum.recall.rerank import RerankScores
from recollectum.recall.result_limits import CAP_BY_SETTING, fit_token_budget
from recollectum.settings.model import RecallSettings
from recollectum.settings.values import parse_floor, split_sources
from recollectum.storage.port import Tx
from recollectum.storage.tables.index.search_filters import Filters
from recollectum.text.cleaning import clean
from recollectum.vault.files.projects import ProjectPlace, load_scope, parse_optional_place
from recollectum.vault.intake.draft import check_aware, check_limit, check_score
from recollectum.vault.refresh import read_indexed, refresh_before_search
from recollectum.vault.runtime import VaultRuntime

if TYPE_CHECKING:
    from recollectum.models.rerank.port import Reranker

_MOST_TOKENS = 10_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallRequest:
    """The parameters of a recall; None means the value of the settings."""

    query: str
    limit: int | None = None
    tokens: int | None = None
    source: SourceName | None = None
    session_id: str | None = None
    kind: KindName | None = None
    speaker: str | None = None
    agent: str | None = None
    channel: str | None = None
    trust: TrustName | None = None
    since: datetime | None = None
    until: datetime | None = None
    untrusted: bool | None = None
    meaning: bool = True
    min_score: float | None = None
    answers_only: bool = False
    project: str | None = None
    prefer_project: str | None = None
    personal: bool = False

    def checked(self, rules: RecallSettings) -> RecallQuery:
        """Return the query with the settings applied; raise for an invalid value."""
        cap = CAP_BY_SETTING[rules.untrusted if self.untrusted is None else "all" if self.untrusted else "none"]
        return RecallQuery(
            text=clean(self.query),
            limit=check_limit(min(rules.limit, rules.max) if self.limit is None else self.limit, rules.max),
            filters=Filters(
                sources=self._sources(rules),
                session_id=self.session_id,
                kind=parse_optional_enum(Kind, self.kind, "kind"),
                speaker=self.speaker,
                agent=self.agent,
                channel=self.channel,
                trust=parse_optional_enum(Trust, self.trust, "trust"),
                since=check_aware("since", self.since),
                until=check_aware("until", self.until),
            ),
            # A filter by trust is an explicit request for that trust.
            max_untrusted=None if self.trust is not None and self.untrusted is None else cap,
            min_score=check_score("min_score", self.min_score),
            answers_only=self.answers_only,
            floor=parse_floor(rules.floor),
        )

    def _sources(self, rules: RecallSettings) -> tuple[SourceKind, ...] | None:
        if self.source is not None:
            return (parse_enum(SourceKind, self.source, "source"),)
        if self.session_id is self.kind is self.speaker is None:
            usual = split_sources(rules.sources)
            return usual if 0 < len(usual) < len(SourceKind) else None
        return None


def recall(runtime: VaultRuntime, request: RecallRequest) -> RecallResult:
    """Return what the vault knows about a text, best hits first."""
    rules = runtime.settings.recall
    query = request.checked(rules)
    tokens = None if request.tokens is None else check_limit(request.tokens, _MOST_TOKENS, "tokens")
    refresh_before_search(runtime)
    # Before the snapshot, so that no transaction waits for a model.
    nearest, missing = runtime.nearest(query.text) if request.meaning else (None, None)
    asked_in = _AskedIn.of(request, runtime)
    # A caller who may not list the archive does not learn what is in it.
    lists = runtime.gate.rules_allow(Action.MEMORY_READ, lambda: {"state": State.ARCHIVED.value})
    arms = Arms(nearest, missing, archive=runtime.archive if lists else None)
    reranker, why = runtime.home.rerankers.get() if runtime.home.rerankers else (None, None)
    if reranker is None or not query.text.strip():
        found, _ = _answer(runtime, query, asked_in, replace(arms, missing=missing or why))
    else:
        found = _answer_reranked(runtime, query, asked_in, arms, reranker, rules.rerank_head)
    served = found if tokens is None else fit_token_budget(found, tokens)
    runtime.note_uses(hit.source.memory_id for hit in served)
    return served


class _AskedIn(NamedTuple):
    """The project that a question is limited to, and the one that it prefers."""

    only: ProjectPlace | None
    preferred: ProjectPlace | None
    #: Whether only what belongs to no project is wanted.
    personal: bool

    @classmethod
    def of(cls, request: RecallRequest, runtime: VaultRuntime) -> "_AskedIn":
        """Return the places that a request names."""
        if request.personal and request.project is not None:
            raise InvalidInput("a recall cannot be personal and limited to a project; leave one of them out")
        return cls(
            parse_optional_place(request.project, runtime.gate),
            parse_optional_place(request.prefer_project, runtime.gate),
            request.personal,
        )

    def limit(self, tx: Tx, query: RecallQuery) -> RecallQuery:
        """Return the query with the scope of its project; the same one if it names none."""
        if self.only is None and self.preferred is None and not self.personal:
            return query
        only = load_scope(tx, self.only) if self.only or self.personal else None
        near = only if self.only else (load_scope(tx, self.preferred) if self.preferred else None)
        return replace(query, filters=replace(query.filters, scope=only), near=near)


def _answer(
    runtime: VaultRuntime, query: RecallQuery, asked_in: _AskedIn, arms: Arms
) -> tuple[RecallResult, tuple[str, ...]]:
    """Return the answer of one snapshot, and the texts of its head."""
    found, unindexed = read_indexed(
        runtime, lambda tx, reading: pipeline.recall(tx, reading, asked_in.limit(tx, query), arms)
    )
    return found if unindexed is None else (found[0].with_hits(found[0], unindexed), found[1])


def _answer_reranked(
    runtime: VaultRuntime, query: RecallQuery, asked_in: _AskedIn, arms: Arms, reranker: "Reranker", head: int
) -> RecallResult:
    """Return the answer with its head reranked by a model between two snapshots; without its scores if it fails."""
    found, texts = _answer(runtime, query, asked_in, replace(arms, judged=RerankScores(head)))
    if len(texts) < 2:
        return found
    try:
        scores = reranker.scores(query.text, texts)
    except ModelError as error:
        return found.with_hits(found, str(error))
    judged = RerankScores(head, dict(zip(texts, scores, strict=True)))
    return _answer(runtime, query, asked_in, replace(arms, judged=judged))[0]
