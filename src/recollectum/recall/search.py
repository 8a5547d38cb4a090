"""Query in, hits out: candidates by words, by meaning and by time, one ranking, each hit with its place and reasons."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from recollectum.domain.hit import Reasons, Recalled, Rung
from recollectum.policy.clock import Reading
from recollectum.recall.candidates import best_served, by_meaning, by_time, by_words, nearest_served
from recollectum.recall.evidence import Evidence, is_speaker
from recollectum.recall.filters import Filters
from recollectum.recall.freshness import HEAD, Statement, asks_for_the_past, settle
from recollectum.recall.fuse import Fused
from recollectum.recall.hits import Detail, details, to_hit, to_share, turns_beside
from recollectum.recall.nearest import Nearest
from recollectum.recall.ranking import Arms, Question, Ranking, crowded, crowded_out, rank
from recollectum.recall.rerank import Judged
from recollectum.recall.substring import find_substring
from recollectum.recall.when import named_times, without_relative_times
from recollectum.recall.within import Within
from recollectum.storage.port import Tx
from recollectum.text.similarity import outline, says_the_same
from recollectum.text.terms import index_terms, may_have, query_terms, with_members

#: Candidates from each arm; what is not among them in any is not an answer.
POOL = 60
#: Pieces fetched for each hit that is wanted: a long text may answer with several of its own.
_PIECES = 4


def search(
    tx: Tx,
    query: str,
    reading: Reading,
    filters: Filters,
    limit: int,
    nearest: Nearest | None,
    missing: str | None,
    judged: Judged | None = None,
) -> Recalled:
    """The best hits for any text, best first. Without vectors it says why, and answers by words alone."""
    question = _question(tx, query, reading, filters)
    rung, size = Rung.HYBRID if nearest else Rung.TEXT, max(POOL, limit * _PIECES)
    arms = _arms(tx, question, nearest, size)
    if not arms.numbers:
        hits = find_substring(tx, query, question.within.params, limit)
        return Recalled(hits, Rung.SUBSTRING if hits else rung, missing)
    ranking = rank(tx, question, arms, size)
    if crowded(arms, ranking, size):
        matches, words = best_served(tx, question.sought, arms.words, question.within, size)
        arms = replace(arms, matches=matches, words=words)
        ranking = rank(tx, question, arms, size)
    if nearest and crowded_out(arms, ranking):
        arms = replace(arms, near=nearest_served(question.within, nearest, size))
        ranking = rank(tx, question, arms, size)
    judging = judged.head if judged else 0
    chosen, found = _choose(tx, question, ranking, max(HEAD, limit, judging), limit, judged)
    if len(chosen) < limit:
        # Some of the first said what a better one said.
        chosen, found = _choose(tx, question, ranking, max(HEAD, 2 * limit, judging), limit, judged)
    beside = turns_beside(tx, [one.number for one in chosen], question.within)
    reasons = _reasons(chosen, ranking, question, arms, rung)
    hits = [
        to_hit(ranking.known[one.number], found[one.number], to_share(one.score), why, beside.get(one.number))
        for one, why in zip(chosen, reasons, strict=True)
    ]
    return Recalled(hits, rung, missing)


def _question(tx: Tx, query: str, reading: Reading, filters: Filters) -> Question:
    params = filters.params(tx, reading)
    times = named_times(tx, query, reading.now, params)
    terms = query_terms(without_relative_times(query, times)) or query_terms(query)
    names = frozenset(term.word.casefold() for term in terms if term.word[:1].isupper() and is_speaker(tx, term.word))
    kept = tuple(term for term in terms if term.word.casefold() not in names)
    asked = kept or terms
    return Question(query, asked, with_members(asked), names, times, Within(tx, params, filtered=filters.any))


def _arms(tx: Tx, question: Question, nearest: Nearest | None, size: int) -> Arms:
    matches, words = by_words(tx, question.sought, question.within, size)
    near = by_meaning(tx, question.within, nearest, size)
    timely = by_time(tx, question.times, nearest, size // 2)
    return Arms(matches, near, timely, words, nearest)


def _choose(
    tx: Tx, question: Question, ranking: Ranking, most: int, limit: int, judged: Judged | None
) -> tuple[list[Fused], dict[int, Detail]]:
    """The hits to show out of so many of the best, and their words."""
    distinct = _distinct(ranking, most)
    found = details(tx, [ranking.known[one.number] for one in distinct])
    distinct = [one for one in distinct if one.number in found]
    if judged:
        distinct = judged.rank(distinct, _spoken(distinct[: judged.head], ranking.known, found))
    settled = _settled(question, distinct, ranking.known, found)
    return _unlike(settled, ranking.known, found, limit), found


def _distinct(ranking: Ranking, most: int) -> list[Fused]:
    """The best piece of each row."""
    best: dict[tuple[str, int], Fused] = {}
    for one in ranking.ranked:
        found = ranking.known[one.number]
        best.setdefault((found.source, found.source_number), one)
        if len(best) == most:
            break
    return list(best.values())


def _spoken(ranked: list[Fused], known: Mapping[int, Evidence], found: Mapping[int, Detail]) -> list[str]:
    """Each text as it was embedded: a turn with its speaker."""
    return [
        f"{known[one.number].author}: {found[one.number].text}"
        if known[one.number].source == "sessions"
        else found[one.number].text
        for one in ranked
    ]


def _settled(
    question: Question, ranked: list[Fused], known: Mapping[int, Evidence], found: Mapping[int, Detail]
) -> list[Fused]:
    """The newest first among statements of the same thing at the head of the list."""
    head = ranked[:HEAD]
    if len(head) < 2 or asks_for_the_past(question.text):
        return ranked
    asked = frozenset(word for term in question.terms for word in term.term.split())
    said = [may_have(found[one.number].text, asked) for one in head]
    statements: list[Statement] = []
    for place, one in enumerate(head):
        # Without a word of the question that another has too it competes with nothing, and its terms are not needed.
        alone = all(other == place or said[place].isdisjoint(said[other]) for other in range(len(head)))
        terms = frozenset[str]() if alone else frozenset(index_terms(found[one.number].text).split())
        statements.append(Statement(one.number, known[one.number].created, terms, terms & asked))
    by_number = {one.number: one for one in head}
    order = [by_number[number] for number in settle(statements)]
    seated = [
        one if one is seat else one._replace(score=seat.score, added=(*one.added, ("newest", seat.score - one.score)))
        for one, seat in zip(order, head, strict=True)
    ]
    return seated + ranked[HEAD:]


def _unlike(ranked: list[Fused], known: Mapping[int, Evidence], found: Mapping[int, Detail], limit: int) -> list[Fused]:
    """Without turns that say what a better hit says: the same person again, or a memory that was taken from them."""
    said: dict[str, list[tuple[str, str | None]]] = {}
    kept: list[Fused] = []
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
    chosen: Sequence[Fused], ranking: Ranking, question: Question, arms: Arms, rung: Rung
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
