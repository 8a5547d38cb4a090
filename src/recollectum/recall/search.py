"""Searches a vault: gathers candidates by words, vectors and time, ranks them, and returns hits."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recollectum.domain.hit import Reasons, RecallResult, SearchMode
from recollectum.policy.clock import ClockReading
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.recall.candidates import (
    best_allowed_matches,
    find_by_time,
    find_by_vector,
    find_by_words,
    find_substring,
    nearest_allowed,
)
from recollectum.recall.hits import load_adjacent_turns, to_hit, to_unit_score
from recollectum.recall.question_times import named_times, without_relative_times
from recollectum.recall.ranking import (
    ArmResults,
    ParsedQuestion,
    Ranking,
    rank_candidates,
    text_arm_starved,
    vector_arm_starved,
)
from recollectum.recall.rerank import RerankScores
from recollectum.recall.scoring import RECENCY_HEAD, DatedStatement, FusedScore, asks_for_the_past, order_by_recency
from recollectum.recall.vectors.query import VectorQuery
from recollectum.storage.port import Tx
from recollectum.storage.tables.index import hit_rows
from recollectum.storage.tables.index import search as search_rows
from recollectum.storage.tables.index.hit_rows import ChunkDetail
from recollectum.storage.tables.index.search import Evidence
from recollectum.storage.tables.index.search_filters import Filters
from recollectum.text.terms.analyser import expand_kinds, index_terms, may_have, query_terms
from recollectum.text.terms.similarity import outline, says_the_same

#: Candidates from each arm; what is not among them in any is not an answer.
POOL = 60
#: Pieces fetched for each hit that is wanted: a long text may answer with several of its own.
_PIECES = 4


def search(
    tx: Tx,
    query: str,
    reading: ClockReading,
    filters: Filters,
    limit: int,
    nearest: VectorQuery | None,
    missing: str | None,
    judged: RerankScores | None = None,
) -> RecallResult:
    """The best hits for any text, best first. Without vectors it says why, and answers by words alone."""
    question = _parse_question(tx, query, reading, filters)
    rung, size = SearchMode.HYBRID if nearest else SearchMode.TEXT, max(POOL, limit * _PIECES)
    arms = _run_arms(tx, question, nearest, size)
    if not arms.numbers:
        hits = find_substring(tx, query, question.within.params, limit)
        return RecallResult(hits, SearchMode.SUBSTRING if hits else rung, missing)
    ranking = rank_candidates(tx, question, arms, size)
    if text_arm_starved(arms, ranking, size):
        matches, words = best_allowed_matches(tx, question.sought, arms.words, question.within, size)
        arms = replace(arms, matches=matches, words=words)
        ranking = rank_candidates(tx, question, arms, size)
    if nearest and vector_arm_starved(arms, ranking):
        arms = replace(arms, near=nearest_allowed(question.within, nearest, size))
        ranking = rank_candidates(tx, question, arms, size)
    judging = judged.head if judged else 0
    chosen, found = _choose_hits(tx, question, ranking, max(RECENCY_HEAD, limit, judging), limit, judged)
    if len(chosen) < limit:
        # Some of the first said what a better one said.
        chosen, found = _choose_hits(tx, question, ranking, max(RECENCY_HEAD, 2 * limit, judging), limit, judged)
    beside = load_adjacent_turns(tx, [one.number for one in chosen], question.within)
    reasons = _reasons(chosen, ranking, question, arms, rung)
    hits = [
        to_hit(ranking.known[one.number], found[one.number], to_unit_score(one.score), why, beside.get(one.number))
        for one, why in zip(chosen, reasons, strict=True)
    ]
    return RecallResult(hits, rung, missing)


def _parse_question(tx: Tx, query: str, reading: ClockReading, filters: Filters) -> ParsedQuestion:
    params = filters.params(tx, reading)
    times = named_times(tx, query, reading.now, params)
    terms = query_terms(without_relative_times(query, times)) or query_terms(query)
    capitalised = [term.word for term in terms if term.word[:1].isupper()]
    names = frozenset(name.casefold() for name in search_rows.speakers(tx, capitalised))
    kept = tuple(term for term in terms if term.word.casefold() not in names)
    asked = kept or terms
    return ParsedQuestion(
        query, asked, expand_kinds(asked), names, times, AllowedChunks(tx, params, filtered=filters.any)
    )


def _run_arms(tx: Tx, question: ParsedQuestion, nearest: VectorQuery | None, size: int) -> ArmResults:
    matches, words = find_by_words(tx, question.sought, question.within, size)
    near = find_by_vector(tx, question.within, nearest, size)
    timely = find_by_time(tx, question.times, nearest, size // 2)
    return ArmResults(matches, near, timely, words, nearest)


def _choose_hits(
    tx: Tx, question: ParsedQuestion, ranking: Ranking, most: int, limit: int, judged: RerankScores | None
) -> tuple[list[FusedScore], dict[int, ChunkDetail]]:
    """The hits to show out of so many of the best, and their words."""
    distinct = _best_of_each_row(ranking, most)
    found = hit_rows.details(tx, [one.number for one in distinct])
    distinct = [one for one in distinct if one.number in found]
    if judged:
        distinct = judged.rank(distinct, _passage_texts(distinct[: judged.head], ranking.known, found))
    settled = _newest_first(question, distinct, ranking.known, found)
    return _without_duplicates(settled, ranking.known, found, limit), found


def _best_of_each_row(ranking: Ranking, most: int) -> list[FusedScore]:
    """The best piece of each row."""
    best: dict[tuple[str, int], FusedScore] = {}
    for one in ranking.ranked:
        found = ranking.known[one.number]
        best.setdefault((found.source, found.source_number), one)
        if len(best) == most:
            break
    return list(best.values())


def _passage_texts(
    ranked: list[FusedScore], known: Mapping[int, Evidence], found: Mapping[int, ChunkDetail]
) -> list[str]:
    """Each text as it was embedded: a turn with its speaker."""
    return [
        f"{known[one.number].author}: {found[one.number].text}"
        if known[one.number].source == "sessions"
        else found[one.number].text
        for one in ranked
    ]


def _newest_first(
    question: ParsedQuestion, ranked: list[FusedScore], known: Mapping[int, Evidence], found: Mapping[int, ChunkDetail]
) -> list[FusedScore]:
    """The newest first among statements of the same thing at the head of the list."""
    head = ranked[:RECENCY_HEAD]
    if len(head) < 2 or asks_for_the_past(question.text):
        return ranked
    asked = frozenset(word for term in question.terms for word in term.term.split())
    said = [may_have(found[one.number].text, asked) for one in head]
    statements: list[DatedStatement] = []
    for place, one in enumerate(head):
        # Without a word of the question that another has too it competes with nothing, and its terms are not needed.
        alone = all(other == place or said[place].isdisjoint(said[other]) for other in range(len(head)))
        terms = frozenset[str]() if alone else frozenset(index_terms(found[one.number].text).split())
        statements.append(DatedStatement(one.number, known[one.number].created, terms, terms & asked))
    by_number = {one.number: one for one in head}
    order = [by_number[number] for number in order_by_recency(statements)]
    seated = [
        one if one is seat else one._replace(score=seat.score, added=(*one.added, ("newest", seat.score - one.score)))
        for one, seat in zip(order, head, strict=True)
    ]
    return seated + ranked[RECENCY_HEAD:]


def _without_duplicates(
    ranked: list[FusedScore], known: Mapping[int, Evidence], found: Mapping[int, ChunkDetail], limit: int
) -> list[FusedScore]:
    """Without turns that say what a better hit says: the same person again, or a memory that was taken from them."""
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


def _reasons(
    chosen: Sequence[FusedScore], ranking: Ranking, question: ParsedQuestion, arms: ArmResults, rung: SearchMode
) -> Iterator[Reasons]:
    """Why each of the chosen ranks where it does."""
    text_rank = {number: place for place, number in enumerate(arms.matches, start=1)}
    vector_rank = {number: place for place, number in enumerate(arms.near, start=1)}
    terms = tuple(term.word for term in question.sought)
    for one in chosen:
        yield Reasons(
            rung=rung,
            text_rank=text_rank.get(one.number),
            text_score=ranking.scores.get(one.number) if one.number in text_rank else None,
            vector_rank=vector_rank.get(one.number),
            vector_score=ranking.cosines.get(one.number),
            terms=terms,
            added=one.added,
        )
