"""Query in, hits out: candidates by words, by meaning and by time, one ranking, each hit with its place and reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from recollect.domain.hit import Hit, Reasons, Recalled, Rung
from recollect.domain.trust import Trust
from recollect.policy.clock import Reading
from recollect.recall.candidates import by_meaning, by_time, by_words, every_match
from recollect.recall.evidence import Evidence, is_speaker, load, neighbours
from recollect.recall.filters import Filters
from recollect.recall.freshness import HEAD, Statement, asks_for_the_past, settle
from recollect.recall.fuse import Candidate, Fused, draw_near, fuse
from recollect.recall.hits import Detail, details, to_hit, to_share, with_neighbours
from recollect.recall.nearest import Nearest
from recollect.recall.rerank import Judged
from recollect.recall.substring import find_substring
from recollect.recall.when import Named, fit, named_times, without_relative_times
from recollect.storage.port import Params, Tx
from recollect.text.similarity import outline, says_the_same
from recollect.text.terms import QueryTerm, index_terms, may_have, query_terms, with_members

#: Candidates from each arm; what is not among them in any is not an answer.
POOL = 60
#: Pieces fetched for each hit that is wanted: a long text may answer with several of its own.
_PIECES = 4
#: So many of the best are compared with their neighbours; what is further down does not come up by them.
_DRAWN = 30
_DISTRUST = {trust.value: max(0, rank - list(Trust).index(Trust.TOOL)) for rank, trust in enumerate(Trust)}


@dataclass(frozen=True, slots=True)
class Question:
    """A query taken apart."""

    text: str
    #: What to look for by words; a speaker's name is matched as the speaker instead, and "last week" as a time.
    terms: tuple[QueryTerm, ...]
    #: The same, and what belongs to a kind that one of them names.
    sought: tuple[QueryTerm, ...]
    names: frozenset[str]
    times: list[Named]
    filtered: bool
    params: Params


@dataclass(frozen=True, slots=True)
class Arms:
    """What each arm found, both best first."""

    matches: Sequence[int]
    near: Sequence[int]
    #: Said at the time that the question names; in no order.
    timely: Sequence[int]
    #: BM25 by number: of the matches, and of others that were looked at.
    scores: Mapping[int, float]
    nearest: Nearest | None

    @property
    def numbers(self) -> list[int]:
        """Every candidate once."""
        return list(dict.fromkeys((*self.matches, *self.near, *self.timely)))


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates that may be served, best first, and what is known of each."""

    ranked: list[Fused]
    known: Mapping[int, Evidence]
    cosines: Mapping[int, float]


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
        hits = find_substring(tx, query, question.params, limit)
        return Recalled(hits, Rung.SUBSTRING if hits else rung, missing)
    ranking = _rank(tx, question, arms)
    if _crowded(arms, ranking, size):
        every = every_match(tx, question.sought, question.params, size)
        arms = replace(arms, matches=list(every), scores={**arms.scores, **every})
        ranking = _rank(tx, question, arms)
    distinct = _distinct(ranking, max(HEAD, 2 * limit, judged.head if judged else 0))
    found = details(tx, [one.number for one in distinct])
    distinct = [one for one in distinct if one.number in found]
    if judged:
        distinct = judged.rank(distinct, _spoken(distinct[: judged.head], ranking.known, found))
    settled = _settled(question, distinct, ranking.known, found)
    chosen = _unlike(settled, ranking.known, found, limit)
    hits = with_neighbours(tx, _hits(chosen, ranking, found, question, arms, rung), question.params)
    return Recalled(hits, rung, missing)


def _question(tx: Tx, query: str, reading: Reading, filters: Filters) -> Question:
    params = filters.params(tx, reading)
    times = named_times(tx, query, reading.now, params)
    terms = query_terms(without_relative_times(query, times)) or query_terms(query)
    names = frozenset(term.word.casefold() for term in terms if term.word[:1].isupper() and is_speaker(tx, term.word))
    kept = tuple(term for term in terms if term.word.casefold() not in names)
    asked = kept or terms
    return Question(query, asked, with_members(asked), names, times, filters.any, params)


def _arms(tx: Tx, question: Question, nearest: Nearest | None, size: int) -> Arms:
    matches, scores = by_words(tx, question.sought, question.params, size, filtered=question.filtered)
    near = by_meaning(tx, question.params, nearest, size, filtered=question.filtered)
    timely = by_time(tx, question.times, nearest, size // 2)
    return Arms(matches, near, timely, scores, nearest)


def _crowded(arms: Arms, ranking: Ranking, size: int) -> bool:
    """Whether matches took the places of others: some may not be served, or many are pieces of one long text."""
    served = [ranking.known[number] for number in arms.matches if number in ranking.known]
    if len(served) < len(arms.matches):
        return True
    return len(arms.matches) == size and 2 * len({(one.source, one.source_number) for one in served}) < size


def _rank(tx: Tx, question: Question, arms: Arms) -> Ranking:
    known = load(tx, arms.numbers, question.params, filtered=question.filtered)
    cosines = arms.nearest.cosines(list(known)) if arms.nearest else {}
    names, times, scores = question.names, question.times, arms.scores
    candidates = [
        Candidate(
            number,
            cosines.get(number),
            scores.get(number, 0.0),
            one.source == "sessions",
            bool(names) and one.speaker is not None and one.speaker.casefold() in names,
            bool(one.own),
            one.told,
            one.echo or 0.0,
            fit(times, one.created) if times else 0.0,
            one.importance,
            _DISTRUST[one.trust],
        )
        for number, one in known.items()
    ]
    ranked, scale = fuse(candidates)
    head = [one.number for one in ranked[:_DRAWN]]
    beside = neighbours(tx, head)
    base = {one.number: one.base for one in ranked}
    others = sorted({number for pair in beside.values() for number in pair} - base.keys())
    nearby = arms.nearest.cosines(others) if arms.nearest and others else {}
    base.update((number, scale.base(nearby.get(number), arms.scores.get(number, 0.0), turn=True)) for number in others)
    return Ranking(draw_near(ranked[:_DRAWN], beside, base) + ranked[_DRAWN:], known, cosines)


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
    statements: list[Statement] = []
    for one in head:
        text = found[one.number].text
        # Without a word of the question it competes with nothing, and its terms are not needed.
        terms = frozenset(index_terms(text).split()) if may_have(text, asked) else frozenset[str]()
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


def _hits(
    chosen: Sequence[Fused],
    ranking: Ranking,
    found: Mapping[int, Detail],
    question: Question,
    arms: Arms,
    rung: Rung,
) -> dict[int, Hit]:
    text_rank = {number: place for place, number in enumerate(arms.matches, start=1)}
    vector_rank = {number: place for place, number in enumerate(arms.near, start=1)}
    terms = tuple(term.word for term in question.sought)
    return {
        one.number: to_hit(
            ranking.known[one.number],
            found[one.number],
            to_share(one.score),
            Reasons(
                rung=rung,
                text_rank=text_rank.get(one.number),
                text_score=arms.scores.get(one.number) if one.number in text_rank else None,
                vector_rank=vector_rank.get(one.number),
                vector_score=ranking.cosines.get(one.number),
                terms=terms,
                added=one.added,
            ),
        )
        for one in chosen
    }
