"""The recall pipeline: parse, gather, rank, rerank, cap untrusted hits, render; each step is a plain function.

Candidates come from BM25, from cosine similarity with Rocchio feedback, and from the times that a question names.
Z-score fusion ranks them in one order.
"""

from collections.abc import Mapping
from dataclasses import replace

from recollectum.domain.hit import AnswerEvidence, Hit, Reasons, RecallResult, SearchMode
from recollectum.domain.records import dataclass
from recollectum.policy.clock import ClockReading
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.recall.archive import ArchiveCache
from recollectum.recall.calibration import EVIDENCE_ROWS, Calibration, find_calibration, word_evidence
from recollectum.recall.candidates import (
    best_allowed_matches,
    find_by_time,
    find_by_vector,
    find_by_words,
    find_substring,
    nearest_allowed,
)
from recollectum.recall.head_order import ANSWER_HEAD, lift_answers, order_head
from recollectum.recall.hits import add_adjacent_turns, to_hit, to_unit_score
from recollectum.recall.query import RecallQuery
from recollectum.recall.question_times import named_times, without_relative_times
from recollectum.recall.ranking import (
    CandidatePool,
    ParsedQuestion,
    Ranking,
    rank_candidates,
    text_arm_starved,
    vector_arm_starved,
)
from recollectum.recall.recency import RECENCY_HEAD
from recollectum.recall.rerank import RerankScores
from recollectum.recall.result_limits import MAY_BE_OWN, apply_cap, without_untrusted_neighbours
from recollectum.recall.scoring import FusedScore
from recollectum.recall.vectors.query import VectorQuery
from recollectum.recall.wishes import WISH_HEAD, find_wishes, lift_wishes
from recollectum.storage.port import Matches, Tx
from recollectum.storage.tables.index import hit_rows, search
from recollectum.storage.tables.index.hit_rows import ChunkDetail
from recollectum.storage.tables.index.search import Evidence
from recollectum.text.answer_kinds import asked_kind
from recollectum.text.terms.analyser import expand_kinds, query_terms
from recollectum.text.terms.similarity import outline, says_the_same
from recollectum.text.wishes import is_request

#: Candidates from each arm; a chunk that no arm returns is not an answer.
POOL = 60
#: Chunks fetched for each wanted hit: a long text may match with several of its chunks.
_PIECES = 4


@dataclass(frozen=True, slots=True)
class Arms:
    """The inputs of a query from outside the snapshot: its vector, or why it has none, and a model's scores."""

    nearest: VectorQuery | None = None
    #: Why only words are compared; None if nothing is missing.
    missing: str | None = None
    judged: RerankScores | None = None
    #: Where archived memories that match are counted; None not to count them.
    archive: ArchiveCache | None = None


@dataclass(frozen=True, slots=True)
class Shortlist:
    """The hits of a search before they are rendered: best first, each with its chunk number."""

    hits: list[tuple[int, Hit]]
    rung: SearchMode
    question: ParsedQuestion
    #: Every chunk that was found by its words.
    words: Matches
    #: The texts that a model scores: the head of the ranking, without duplicates.
    head: tuple[str, ...] = ()
    held_back: int = 0
    evidence: AnswerEvidence | None = None
    #: What turned the evidence into the hits' scores; None when this way to search was never measured.
    calibration: Calibration | None = None
    #: The best of the hits that were cut because their score is too low.
    nearest: Hit | None = None


@dataclass(frozen=True, slots=True)
class _Chosen:
    """The chunks to show, their texts, and the texts of the head of their ranking."""

    ranked: list[FusedScore]
    details: Mapping[int, ChunkDetail]
    head: tuple[str, ...]


def recall(tx: Tx, reading: ClockReading, query: RecallQuery, arms: Arms) -> tuple[RecallResult, tuple[str, ...]]:
    """Return the best hits for any text, best first, and the texts of the head for a model to score."""
    found = find(tx, reading, query, arms)
    found = cut_weak(query, cap_untrusted(tx, reading, query, arms, found))
    result = render(tx, query, arms, found)
    if arms.archive:
        result.archived = arms.archive.count(tx, reading, found.question, found.words)
    return result, found.head


def find(tx: Tx, reading: ClockReading, query: RecallQuery, arms: Arms) -> Shortlist:
    """Return the best hits before the cap, without adjacent turns."""
    question = parse(tx, reading, query)
    pool = gather(tx, question, arms.nearest, max(POOL, query.limit * _PIECES))
    if not pool.numbers:
        return last_resort(tx, question, query.limit, pool)
    ranking = rank(tx, question, pool)
    return rerank(tx, question, ranking, query.limit, arms.judged)


def parse(tx: Tx, reading: ClockReading, query: RecallQuery) -> ParsedQuestion:
    """Parse a question into its terms, the speakers and times that it names, and the chunks that may be served."""
    params = query.filters.params(tx, reading)
    times = named_times(tx, query.text, reading.now, params)
    terms = query_terms(without_relative_times(query.text, times)) or query_terms(query.text)
    capitalised = [term.word for term in terms if term.word[:1].isupper()]
    names = frozenset(name.casefold() for name in search.speakers(tx, capitalised))
    kept = tuple(term for term in terms if term.word.casefold() not in names)
    asked = kept or terms
    within = AllowedChunks(tx, params, filtered=query.filters.exclude_some(tx))
    near = query.near if query.near and query.near.ids else None
    return ParsedQuestion(query.text, asked, expand_kinds(asked), names, times, within, is_request(query.text), near)


def gather(tx: Tx, question: ParsedQuestion, nearest: VectorQuery | None, size: int) -> CandidatePool:
    """Return the candidates of each arm: by words, by vector and by time."""
    matches, words = find_by_words(tx, question.sought, question.within, size)
    near = find_by_vector(tx, question.within, nearest, size)
    timely = find_by_time(tx, question.times, nearest, size // 2)
    return CandidatePool(matches, near, timely, words, nearest, size, *find_wishes(tx, question, nearest))


def rank(tx: Tx, question: ParsedQuestion, pool: CandidatePool) -> Ranking:
    """Rank the candidates in one order; ask an arm again if forbidden chunks took many of its places."""
    ranking = rank_candidates(question, pool)
    if text_arm_starved(pool, ranking):
        matches, words = best_allowed_matches(tx, question.sought, pool.words, question.within, pool.size)
        pool = replace(pool, matches=matches, words=words)
        ranking = rank_candidates(question, pool)
    if pool.nearest and vector_arm_starved(pool, ranking):
        pool = replace(pool, near=nearest_allowed(question.within, pool.nearest, pool.size))
        ranking = rank_candidates(question, pool)
    return ranking


def rerank(
    tx: Tx, question: ParsedQuestion, ranking: Ranking, limit: int, judged: RerankScores | None = None
) -> Shortlist:
    """Return the hits to show: by a model's scores if there are any, then newest first, without duplicates."""
    unlifted = rows = _best_of_each_row(ranking)
    loaded: Mapping[int, ChunkDetail] = {}
    if question.request and ranking.pool.nearest:
        loaded = hit_rows.details(tx, [one.number for one in rows[:WISH_HEAD]])
        rows = lift_wishes(rows, ranking, loaded)
    elif kind := asked_kind(question.text):
        loaded = hit_rows.details(tx, [one.number for one in rows[:ANSWER_HEAD]])
        rows = lift_answers(rows, kind, loaded)
    most = max(RECENCY_HEAD, limit, judged.head if judged else 0)
    chosen = _choose(tx, question, ranking, rows[:most], loaded, limit, judged)
    more = max(most, 2 * limit)
    if len(chosen.ranked) < limit and len(rows) > most < more:
        # Some of the first were duplicates of better ones, and there are others behind them.
        chosen = _choose(tx, question, ranking, rows[:more], chosen.details, limit, judged)
    evidence = _evidence(question, ranking, unlifted[:EVIDENCE_ROWS])
    calibration = (
        None
        if judged and judged.scores
        else find_calibration(ranking.pool.nearest.model if ranking.pool.nearest else None)
    )
    fused = [one.score for one in chosen.ranked]
    if calibration:
        # What a wish or an answer gains changes its place, and not the chance that the vault answers.
        scores = calibration.chances(evidence, [min(one, evidence.fused) for one in fused])
    else:
        scores = list(map(to_unit_score, fused))
    hits = _to_hits(question, ranking, chosen, scores)
    pool = ranking.pool
    return Shortlist(hits, pool.rung, question, pool.words, chosen.head, evidence=evidence, calibration=calibration)


def last_resort(tx: Tx, question: ParsedQuestion, limit: int, pool: CandidatePool) -> Shortlist:
    """Return the texts that contain the question as typed, if neither words nor vectors matched."""
    hits = find_substring(tx, question, limit)
    return Shortlist(hits, SearchMode.SUBSTRING if hits else pool.rung, question, pool.words)


def cap_untrusted(tx: Tx, reading: ClockReading, query: RecallQuery, arms: Arms, found: Shortlist) -> Shortlist:
    """Return the shortlist with at most `max_untrusted` hits of untrusted origin; later hits take their places."""
    most = query.max_untrusted
    if most is None:
        return found
    hits, held = apply_cap(tx, found.hits, query.limit, most)
    if not held or len(found.hits) < query.limit:
        return replace(found, hits=hits, held_back=held)
    # There are others behind a full list, however much of it was untrusted.
    rest = find(tx, reading, replace(query, filters=replace(query.filters, trusts=MAY_BE_OWN)), arms)
    others, more = apply_cap(tx, rest.hits, query.limit, 0)
    shown = {str(hit.source) for _, hit in hits}
    hits += [one for one in others if str(one[1].source) not in shown]
    return replace(found, hits=hits[: query.limit], head=rest.head, held_back=held + more)


def cut_weak(query: RecallQuery, found: Shortlist) -> Shortlist:
    """Return the shortlist without hits below `min_score`, and without any hit where the best is below the floor.

    Scores that are not calibrated are never cut, because they say nothing about relevance.
    """
    if not found.calibration or not found.hits:
        return found
    best = found.hits[0][1]
    floor = 0.0
    if query.answers_only:
        floor = found.calibration.floor if query.floor is None else query.floor
    if best.score < floor:
        return replace(found, hits=[], nearest=best)
    kept = [one for one in found.hits if one[1].score >= (query.min_score or 0.0)]
    left_out = next((hit for _, hit in found.hits[len(kept) :]), None)
    return replace(found, hits=kept, nearest=left_out if query.min_score else None)


def render(tx: Tx, query: RecallQuery, arms: Arms, found: Shortlist) -> RecallResult:
    """Return the result, in which each turn has the adjacent turns that the filters and the cap allow."""
    hits = [hit for _, hit in found.hits]
    if found.rung is not SearchMode.SUBSTRING:
        hits = add_adjacent_turns(tx, found.hits, found.question.within)
    if query.max_untrusted is not None:
        hits = without_untrusted_neighbours(hits)
    calibrated = found.calibration is not None
    degraded = arms.missing
    if query.min_score and not calibrated and hits:
        degraded = degraded or "the scores of this search are not calibrated, so no minimum score was applied"
    result = RecallResult(
        hits,
        found.rung,
        degraded,
        held_back=found.held_back,
        calibrated=calibrated,
        evidence=found.evidence,
        nearest=found.nearest,
    )
    result.replica = tx.from_replica
    return result


def _choose(
    tx: Tx,
    question: ParsedQuestion,
    ranking: Ranking,
    rows: list[FusedScore],
    loaded: Mapping[int, ChunkDetail],
    limit: int,
    judged: RerankScores | None,
) -> _Chosen:
    """Choose the chunks to show from some of the best; texts that were loaded before are not loaded again."""
    wanted = [one.number for one in rows if one.number not in loaded]
    details = {**loaded, **hit_rows.details(tx, wanted)} if wanted else loaded
    rows = [one for one in rows if one.number in details]
    head: tuple[str, ...] = ()
    if judged:
        texts = _passage_texts(rows[: judged.head], ranking.known, details)
        rows, head = judged.rank(rows, texts), tuple(dict.fromkeys(texts))
    settled = order_head(question, rows, ranking, details)
    return _Chosen(_without_duplicates(settled, ranking.known, details, limit), details, head)


def _best_of_each_row(ranking: Ranking) -> list[FusedScore]:
    """Return the best chunk of each row."""
    best: dict[tuple[str, int], FusedScore] = {}
    for one in ranking.ranked:
        found = ranking.known[one.number]
        best.setdefault((found.source, found.source_number), one)
    return list(best.values())


def _passage_texts(
    ranked: list[FusedScore], known: Mapping[int, Evidence], found: Mapping[int, ChunkDetail]
) -> list[str]:
    """Return each text as it was embedded: a turn has its speaker before it."""
    return [
        f"{known[one.number].author}: {found[one.number].text}"
        if known[one.number].source == "sessions"
        else found[one.number].text
        for one in ranked
    ]


def _without_duplicates(
    ranked: list[FusedScore], known: Mapping[int, Evidence], found: Mapping[int, ChunkDetail], limit: int
) -> list[FusedScore]:
    """Drop turns that repeat a better hit: of the same speaker, or a memory that was made from them."""
    if all(known[one.number].source != "sessions" for one in ranked):
        return ranked[:limit]
    said: dict[str, list[tuple[str, str | None]]] = {}
    kept: list[FusedScore] = []
    for one in ranked:
        text, author = found[one.number].text, known[one.number].author
        turn = known[one.number].source == "sessions"
        same = said.setdefault(outline(text), [])
        if turn and any(by in (author, None) and says_the_same(text, other) for other, by in same):
            continue
        same.append((text, author if turn else None))
        kept.append(one)
        if len(kept) == limit:
            break
    return kept


def _evidence(question: ParsedQuestion, ranking: Ranking, rows: list[FusedScore]) -> AnswerEvidence:
    """Return the evidence that the vault answers the question, read off the best rows."""
    numbers, nearest = [one.number for one in rows], ranking.pool.nearest
    best = max((ranking.scores.get(number, 0.0) for number in numbers), default=0.0)
    coverage, missing, words = word_evidence(question.terms, ranking.pool.words, best)
    mean, deviation = nearest.background() if nearest else (0.0, 0.0)
    return AnswerEvidence(
        coverage=coverage,
        missing=missing,
        words=words,
        fused=max((one.score for one in rows), default=0.0),
        chunks=ranking.pool.words.chunks,
        turns=sum(ranking.known[number].source == "sessions" for number in numbers) / max(1, len(numbers)),
        cosine=nearest.highest(numbers) if nearest else 0.0,
        mean=mean,
        deviation=deviation,
    )


def _to_hits(question: ParsedQuestion, ranking: Ranking, chosen: _Chosen, scores: list[float]) -> list[tuple[int, Hit]]:
    """Return the chosen chunks as hits, each with its chunk number and the reasons for its rank."""
    text_rank = {number: place for place, number in enumerate(ranking.pool.matches, start=1)}
    vector_rank = {number: place for place, number in enumerate(ranking.pool.near, start=1)}
    terms = tuple(term.word for term in question.sought)
    hits: list[tuple[int, Hit]] = []
    for one, score in zip(chosen.ranked, scores, strict=True):
        number = one.number
        reasons = Reasons(
            rung=ranking.pool.rung,
            text_rank=text_rank.get(number),
            text_score=ranking.scores.get(number) if number in text_rank else None,
            vector_rank=vector_rank.get(number),
            vector_score=ranking.cosines.get(number),
            fused=one.score,
            terms=terms,
            added=one.added,
        )
        hits.append((number, to_hit(ranking.known[number], chosen.details[number], score, reasons)))
    return hits
