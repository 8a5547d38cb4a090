"""Query in, hits out: candidates by words and by meaning, one ranking, each hit with its place and its reasons."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.domain.hit import Hit, Reasons, Recalled, Rung
from recollect.domain.trust import Trust
from recollect.policy.clock import Reading
from recollect.recall.evidence import (
    FILTERED,
    ROWS,
    Evidence,
    Filters,
    allowed,
    is_speaker,
    load,
    neighbours,
    standing,
    texts,
)
from recollect.recall.freshness import HEAD, Statement, asks_for_the_past, settle
from recollect.recall.fuse import Candidate, Fused, fuse
from recollect.recall.nearest import Nearest
from recollect.recall.substring import find_substring
from recollect.storage.port import Row, Tx
from recollect.text.similarity import fingerprint
from recollect.text.terms import QueryTerm, index_terms, match_expression, query_terms
from recollect.text.tokens import estimate

#: Candidates from each arm; what is not among them in either is not an answer.
POOL = 100
#: Pieces fetched for each hit that is wanted: a long text may answer with several of its own.
_PIECES = 4
# Without filters: the best pieces first, and only then the rows they are of.
_HEAD = """
    SELECT head.number, head.score, chunks.source, chunks.source_number
      FROM (SELECT number, score FROM found ORDER BY score DESC, number DESC LIMIT :limit) AS head
     CROSS JOIN chunks ON chunks.number = head.number
     ORDER BY head.score DESC, head.number DESC
"""
_MATCHES = f"""
    SELECT found.number, max(found.score) AS score FROM found {ROWS.format(numbers="found.number")}
     WHERE {FILTERED}
     -- The best piece of each text: one long text must not take the places of all others.
     GROUP BY chunks.source, chunks.source_number
     ORDER BY score DESC, found.number DESC LIMIT :limit
"""  # noqa: S608  (constants of this file)
_TRUST_RANK = {trust: rank for rank, trust in enumerate(Trust)}


@dataclass(frozen=True, slots=True)
class Question:
    """A query taken apart."""

    text: str
    #: What to look for by words; a speaker's name is matched as the speaker instead.
    terms: tuple[QueryTerm, ...]
    names: frozenset[str]
    reading: Reading
    filters: Filters


def search(
    tx: Tx, query: str, reading: Reading, filters: Filters, limit: int, nearest: Nearest | None, missing: str | None
) -> Recalled:
    """The best hits for any text, best first. Without vectors it says why, and answers by words alone."""
    question = _question(tx, query, reading, filters)
    size = max(POOL, limit * _PIECES)
    matches = _by_words(tx, question, size)
    near = _by_meaning(tx, question, nearest, size)
    rung = Rung.HYBRID if nearest else Rung.TEXT
    if not matches and not near:
        hits = find_substring(tx, query, reading, filters, limit)
        return Recalled(hits, Rung.SUBSTRING if hits else rung, missing)
    ranked, known = _rank(tx, question, matches, near, nearest)
    if not matches.keys() <= known.keys():
        # Some of the best matches may not be served, and took the places of others that may.
        matches = _every_match(tx, question, size)
        ranked, known = _rank(tx, question, matches, near, nearest)
    candidates = _distinct(_settled(tx, question, ranked), known, 2 * limit)
    words = texts(tx, [one.number for one in candidates])
    chosen = _unlike(candidates, words, known)[:limit]
    return Recalled(
        (_to_hit(one, known[one.number], words[one.number], question, matches, near, rung, nearest) for one in chosen),
        rung,
        missing,
    )


def _question(tx: Tx, query: str, reading: Reading, filters: Filters) -> Question:
    terms = query_terms(query)
    names = frozenset(term.word.casefold() for term in terms if term.word[:1].isupper() and is_speaker(tx, term.word))
    kept = tuple(term for term in terms if term.word.casefold() not in names)
    return Question(query, kept or terms, names, reading, filters)


def _by_words(tx: Tx, question: Question, size: int) -> dict[int, float]:
    """The chunks that match the words of a question, best first, with BM25."""
    expression = match_expression(question.terms)
    if expression is None:
        return {}
    if not question.filters.any:
        most = size * _PIECES
        head = tx.rows(f"WITH found AS ({tx.text.matching}) {_HEAD}", {"expression": expression, "limit": most})
        best = _best_pieces(head)
        if len(head) < most or len(best) >= size:
            return dict(list(best.items())[:size])
    # Filtered, or one long text takes all the places.
    return _every_match(tx, question, size)


def _every_match(tx: Tx, question: Question, size: int) -> dict[int, float]:
    """The best of all matches that may be served."""
    expression = match_expression(question.terms)
    params = {**question.filters.params(question.reading), "expression": expression, "limit": size}
    return dict(tx.rows(f"WITH found AS ({tx.text.matching}) {_MATCHES}", params))


def _best_pieces(head: Sequence[Row]) -> dict[int, float]:
    """The best piece of each text, best first."""
    seen: dict[tuple[str, int], tuple[int, float]] = {}
    for number, score, source, source_number in head:
        seen.setdefault((source, source_number), (number, score))
    return dict(seen.values())


def _by_meaning(tx: Tx, question: Question, nearest: Nearest | None, size: int) -> list[int]:
    """The chunks nearest in meaning, nearest first."""
    if nearest is None:
        return []
    within = allowed(tx, question.reading, question.filters) if question.filters.any else None
    found = nearest.best(size + nearest.stale, within)
    if nearest.stale:
        # What was taken out since must not take the places of what stands.
        there = standing(tx, found)
        found = [number for number in found if number in there]
    return found[:size]


def _rank(
    tx: Tx, question: Question, matches: Mapping[int, float], near: Sequence[int], nearest: Nearest | None
) -> tuple[list[Fused], dict[int, Evidence]]:
    wanted = list(dict.fromkeys((*matches, *near)))
    known = load(tx, wanted, question.reading, question.filters)
    beside = neighbours(tx, known)
    others = sorted({number for pair in beside.values() for number in pair} - known.keys())
    cosines = nearest.cosines([*known, *others]) if nearest else {}
    # The words of seven languages for time, which only a question needs.
    from recollect.text.dates import overlap, time_ranges  # noqa: PLC0415

    spans = time_ranges(question.text, question.reading.now.date())
    candidates = [
        Candidate(
            number=one.number,
            cosine=cosines.get(one.number),
            bm25=matches.get(one.number, 0.0),
            turn=one.session_id is not None and one.memory_id is None,
            named=one.speaker is not None and one.speaker.casefold() in question.names,
            own=one.own,
            told=one.told,
            echo=one.echo,
            when=max((overlap(span, one.created_at) for span in spans), default=0.0),
            importance=one.importance,
            distrust=max(0, _TRUST_RANK[one.trust] - _TRUST_RANK[Trust.TOOL]),
            neighbours=beside.get(one.number, ()),
        )
        for one in known.values()
    ]
    # Neighbours count only through the turns beside them.
    candidates += [Candidate(number=number, cosine=cosines.get(number), bm25=0.0) for number in others]
    return fuse(candidates, set(known)), known


def _settled(tx: Tx, question: Question, ranked: list[Fused]) -> list[Fused]:
    """The newest first among statements of the same thing at the head of the list."""
    head = ranked[:HEAD]
    if len(head) < 2 or asks_for_the_past(question.text):
        return ranked
    asked = frozenset(word for term in question.terms for word in term.term.split())
    words = texts(tx, [one.number for one in head])
    statements: list[Statement] = []
    for one in head:
        terms = frozenset(index_terms(words[one.number][0]).split())
        statements.append(Statement(one.number, terms, terms & asked))
    by_number = {one.number: one for one in head}
    order = [by_number[number] for number in settle(statements)]
    seated = [
        replace(
            one, score=seat.score, added=one.added if one is seat else (*one.added, ("newest", seat.score - one.score))
        )
        for one, seat in zip(order, head, strict=True)
    ]
    return seated + ranked[HEAD:]


def _distinct(ranked: list[Fused], known: Mapping[int, Evidence], limit: int) -> list[Fused]:
    """The best piece of each row."""
    seen: set[tuple[str, int]] = set()
    chosen: list[Fused] = []
    for one in ranked:
        row = (known[one.number].source, known[one.number].source_number)
        if row not in seen:
            seen.add(row)
            chosen.append(one)
        if len(chosen) == limit:
            break
    return chosen


def _unlike(ranked: list[Fused], words: Mapping[int, Row], known: Mapping[int, Evidence]) -> list[Fused]:
    """Without turns that say what a better hit says: the same person again, or a memory that was taken from them."""
    said: set[tuple[str, str | None]] = set()
    kept: list[Fused] = []
    for one in ranked:
        found, text = known[one.number], fingerprint(words[one.number][0])
        if found.memory_id is None and {(text, found.author), (text, None)} & said:
            continue
        said.add((text, found.author if found.memory_id is None else None))
        kept.append(one)
    return kept


def _to_hit(
    one: Fused,
    found: Evidence,
    words: Row,
    question: Question,
    matches: Mapping[int, float],
    near: Sequence[int],
    rung: Rung,
    nearest: Nearest | None,
) -> Hit:
    return Hit(
        text=words[0],
        # Between 0 and 1, in the same order: standard deviations mean nothing to a reader.
        score=1 / (1 + math.exp(-one.score / 2)),
        source=found.source_of(words),
        trust=found.trust,
        author=found.author,
        created_at=found.created_at,
        reasons=Reasons(
            rung=rung,
            text_rank=_place(one.number, list(matches)),
            text_score=matches.get(one.number),
            vector_rank=_place(one.number, near),
            vector_score=nearest.cosines([one.number]).get(one.number) if nearest else None,
            terms=tuple(term.word for term in question.terms),
            added=one.added,
        ),
    )


def _place(number: int, ranking: Sequence[int]) -> int | None:
    return ranking.index(number) + 1 if number in ranking else None


def within_tokens(found: Recalled, tokens: int) -> Recalled:
    """The best hits that fit a budget; the first that does not ends the list."""
    kept: list[Hit] = []
    for hit in found:
        tokens -= estimate(hit.text)
        if tokens < 0:
            break
        kept.append(hit)
    return Recalled(kept, found.rung, found.degraded)
