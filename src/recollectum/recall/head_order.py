"""Orders the head of a ranking: texts with the kind of answer asked for, whole names, and statements by time."""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain

from recollectum.recall.ranking import ParsedQuestion, Ranking
from recollectum.recall.recency import (
    RECENCY_HEAD,
    DatedStatement,
    asked_words,
    order_by_recency,
    prefer_whole_names,
    statement_words,
    time_order,
)
from recollectum.recall.result_limits import MAY_BE_OWN
from recollectum.recall.scoring import FusedScore
from recollectum.storage.tables.index.hit_rows import ChunkDetail
from recollectum.text.answer_kinds import AnswerKind, has_kind
from recollectum.text.terms.analyser import index_terms, may_have
from recollectum.text.terms.names import find_names, has_whole_names

#: What a text gains if it has a time or a number and the question asks for one, in standard deviations of the
#: candidates; and the number of best rows whose words are read.
ANSWER_WEIGHT, ANSWER_HEAD = 0.8, 20


def lift_answers(rows: Sequence[FusedScore], kind: AnswerKind, details: Mapping[int, ChunkDetail]) -> list[FusedScore]:
    """Return the rows, best first, with what those gain that have the kind of answer asked for."""
    lifted = [
        one._replace(score=one.score + ANSWER_WEIGHT, added=(*one.added, ("answer", ANSWER_WEIGHT)))
        if (found := details.get(one.number)) and has_kind(found.text, kind)
        else one
        for one in rows
    ]
    return sorted(lifted, key=lambda one: (-one.score, -one.number))


def order_head(
    question: ParsedQuestion, ranked: list[FusedScore], ranking: Ranking, found: Mapping[int, ChunkDetail]
) -> list[FusedScore]:
    """Sort statements about the same thing at the head of the list newest first, or as the question asks."""
    head = ranked[:RECENCY_HEAD]
    if len(head) < 2:
        return ranked
    asked, order = asked_words(question.text, question.terms), time_order(question.text)
    statements = _to_statements(question, asked.terms, head, ranking, found)
    head = _reseat(head, prefer_whole_names(list(statements.values())), "name")
    # What holds in the project that is asked from, does not compete with what holds elsewhere.
    near = {one.number: question.is_near(ranking.known[one.number]) for one in head}
    sides = {side: [statements[one.number] for one in head if near[one.number] is side] for side in {*near.values()}}
    placed = {side: iter(order_by_recency(said, asked, order)) for side, said in sides.items()}
    return _reseat(head, [next(placed[near[one.number]]) for one in head], order.value) + ranked[RECENCY_HEAD:]


def _to_statements(
    question: ParsedQuestion,
    asked: frozenset[str],
    head: list[FusedScore],
    ranking: Ranking,
    found: Mapping[int, ChunkDetail],
) -> dict[int, DatedStatement]:
    """Return the head of the list as statements, by number."""
    names = find_names(question.text)
    said = [may_have(found[one.number].text, asked) for one in head]
    having = Counter(chain.from_iterable(said))
    _, unit = ranking.scale.cosine
    statements: dict[int, DatedStatement] = {}
    for place, one in enumerate(head):
        known, cosine, text = ranking.known[one.number], ranking.cosines.get(one.number), found[one.number].text
        # If it shares no word of the question with another, it competes with none, and its words are not needed.
        alone = all(having[word] == 1 for word in said[place])
        words = () if alone else statement_words(index_terms(text))
        statement = DatedStatement(
            number=one.number,
            created=known.created,
            updated=known.updated,
            words=words,
            asked=asked.intersection(words),
            score=one.score,
            nearness=None if cosine is None else cosine * unit,
            turn=known.source == "sessions",
            own=known.trust in MAY_BE_OWN,
        )
        whole = bool(names) and bool(statement.asked) and statement.is_single and has_whole_names(text, names)
        statements[one.number] = statement._replace(whole=True) if whole else statement
    return statements


def _reseat(head: list[FusedScore], numbers: list[int], reason: str) -> list[FusedScore]:
    """Return the head in another order; each gets the score of its place, and the reason for it."""
    by_number = {one.number: one for one in head}
    if list(by_number) == numbers:
        return head
    return [
        seat
        if number == seat.number
        else by_number[number]._replace(
            score=seat.score, added=(*by_number[number].added, (reason, seat.score - by_number[number].score))
        )
        for number, seat in zip(numbers, head, strict=True)
    ]
