"""Ranks the candidates of all arms by z-score fusion, and detects an arm that returned too few."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from heapq import nlargest

from recollectum.domain.files.project import ProjectScope
from recollectum.domain.hit import SearchMode
from recollectum.domain.message import Role
from recollectum.domain.records import dataclass
from recollectum.domain.trust import Trust
from recollectum.recall.allowed_chunks import AllowedChunks
from recollectum.recall.question_times import NamedTime, time_fit
from recollectum.recall.scoring import (
    FusedScore,
    SearchCandidate,
    TurnPlace,
    ZScale,
    asks_the_assistant,
    boost_by_context,
    fuse_scores,
    measure_scale,
)
from recollectum.recall.vectors.query import VectorQuery
from recollectum.storage.port import Matches
from recollectum.storage.tables.index.search import Evidence
from recollectum.text.terms.analyser import QueryTerm

#: One forbidden chunk in this many is no loss.
_STARVED_SHARE = 4
#: A turn with at most this many words outside questions asks or says little.
_ASKS_MOST = 10
#: The number of first texts that the question is moved towards, and the characters that each must have: a short
#: statement says one thing, and its vector would only draw others that say the same.
_LEADING, _LONG = 3, 300
_DISTRUST = {trust.value: max(0, rank - list(Trust).index(Trust.TOOL)) for rank, trust in enumerate(Trust)}


@dataclass(frozen=True, slots=True)
class ParsedQuestion:
    """A parsed query."""

    text: str
    #: The terms to search; a speaker's name is matched as the speaker instead, and "last week" as a time.
    terms: tuple[QueryTerm, ...]
    #: These terms, and the members of a category that one of them names.
    sought: tuple[QueryTerm, ...]
    names: frozenset[str]
    times: list[NamedTime]
    within: AllowedChunks
    #: Whether it asks for advice or work, on which a standing wish may bear.
    request: bool = False
    #: The project that is asked from, whose texts are preferred.
    near: ProjectScope | None = None

    def is_near(self, one: Evidence) -> bool:
        """Return whether a text belongs to the project that is asked from."""
        return self.near is not None and (one.project in self.near.ids or one.session in self.near.sessions)


@dataclass(frozen=True, slots=True)
class CandidatePool:
    """The results of each arm, best first."""

    matches: Sequence[int]
    near: Sequence[int]
    #: Said at a time that the question names; in no order.
    timely: Sequence[int]
    #: Every chunk found by its words, including `matches`.
    words: Matches
    nearest: VectorQuery | None
    #: How many candidates each arm was asked for.
    size: int
    #: The memories of wishes that are nearest to a request.
    wishes: Sequence[int] = ()
    #: All memories that are wishes by their kind.
    declared: AbstractSet[int] = frozenset()

    @property
    def rung(self) -> SearchMode:
        """Return how the candidates were found."""
        return SearchMode.HYBRID if self.nearest else SearchMode.TEXT

    @property
    def numbers(self) -> list[int]:
        """Return every candidate once."""
        return list(dict.fromkeys((*self.matches, *self.near, *self.timely, *self.wishes)))


@dataclass(frozen=True, slots=True)
class Ranking:
    """The candidates that may be served, best first, and the features of each."""

    ranked: list[FusedScore]
    known: Mapping[int, Evidence]
    cosines: Mapping[int, float]
    scores: Mapping[int, float]
    #: The candidates whose features were loaded: all but those that the arms put last.
    looked: frozenset[int]
    pool: CandidatePool
    #: What turns the scores of both arms into z-scores.
    scale: ZScale


def rank_candidates(question: ParsedQuestion, pool: CandidatePool) -> Ranking:
    """Return the candidates in one order."""
    numbers, within = pool.numbers, question.within
    cosines = pool.nearest.cosines(numbers) if pool.nearest else {}
    scores = pool.words.scores(numbers)
    scale = measure_scale(cosines.values(), [scores.get(number, 0.0) for number in numbers])
    whole = question.names or question.times or question.request or question.near
    looked = numbers if whole else _preselect(numbers, cosines, scores, scale, pool.size)
    known = within.evidence(looked)
    if len(looked) < len(numbers) and (len(known) < len(looked) or 2 * _count_texts(known.values()) < len(known)):
        # Forbidden chunks, and the chunks of one long text, must not take the places of others.
        looked, known = numbers, within.evidence(numbers)
    leading = _leading_texts(known, cosines, scores, scale) if pool.nearest else []
    moved = pool.nearest.cosines_towards(leading, numbers) if pool.nearest and leading else cosines
    moved_scale = measure_scale(moved.values(), [scores.get(number, 0.0) for number in numbers]) if leading else scale
    # A filter by speaker has said already whose words are wanted.
    wanted = within.params["speaker"] is not None or asks_the_assistant(question.text)
    candidates = [_candidate(question, one, moved, scores, assistant_wanted=wanted) for one in known.values()]
    ranked, _ = fuse_scores(candidates, moved_scale)
    # A turn whose session has no other candidate gains nothing.
    together = Counter([one.session for one in known.values()])
    places = {
        number: TurnPlace(one.session, one.position, one.author, _asks(one))
        for number, one in known.items()
        if one.session is not None and one.position is not None and together[one.session] > 1
    }
    return Ranking(boost_by_context(ranked, places), known, cosines, scores, frozenset(looked), pool, scale)


def text_arm_starved(pool: CandidatePool, ranking: Ranking) -> bool:
    """Return whether some matches may not be served, or many are chunks of one long text, and crowd out others."""
    looked, served = _count_allowed(pool.matches, ranking)
    if len(served) < looked:
        return True
    return len(pool.matches) == pool.size and 2 * _count_texts(served) < looked


def vector_arm_starved(pool: CandidatePool, ranking: Ranking) -> bool:
    """Return whether chunks that may not be served took many places of the vector arm."""
    looked, served = _count_allowed(pool.near, ranking)
    return looked - len(served) > looked // _STARVED_SHARE


def _count_allowed(numbers: Sequence[int], ranking: Ranking) -> tuple[int, list[Evidence]]:
    """Return how many of these were loaded, and those of them that may be served."""
    looked = [number for number in numbers if number in ranking.looked]
    return len(looked), [ranking.known[number] for number in looked if number in ranking.known]


def _count_texts(found: Iterable[Evidence]) -> int:
    """Return the number of different texts of these chunks."""
    return len({(one.source, one.source_number) for one in found})


def _preselect(
    numbers: list[int], cosines: Mapping[int, float], scores: Mapping[int, float], scale: ZScale, size: int
) -> list[int]:
    """Return the candidates with the best scores of both arms; features would seldom lift the others to the head."""
    if len(numbers) <= size:
        return numbers
    bases = scale.bases([(cosines.get(one), scores.get(one, 0.0)) for one in numbers])
    return [numbers[place] for place in sorted(range(len(numbers)), key=bases.__getitem__, reverse=True)[:size]]


def _leading_texts(
    known: Mapping[int, Evidence], cosines: Mapping[int, float], scores: Mapping[int, float], scale: ZScale
) -> list[int]:
    """Return the first chunks by both arms if all of them are long written texts."""
    if len(known) <= _LEADING:
        return []
    best = nlargest(
        _LEADING,
        known.values(),
        key=lambda one: scale.base(cosines.get(one.number), scores.get(one.number, 0.0), turn=_is_turn(one)),
    )
    return [] if any(_is_turn(one) or one.length < _LONG for one in best) else [one.number for one in best]


def _asks(one: Evidence) -> bool:
    return one.told is not None and one.told <= _ASKS_MOST


def _is_turn(one: Evidence) -> bool:
    return one.source == "sessions"


def _candidate(
    question: ParsedQuestion,
    one: Evidence,
    cosines: Mapping[int, float],
    scores: Mapping[int, float],
    *,
    assistant_wanted: bool,
) -> SearchCandidate:
    names, times = question.names, question.times
    named = bool(names) and one.speaker is not None and one.speaker.casefold() in names
    return SearchCandidate(
        one.number,
        cosines.get(one.number),
        scores.get(one.number, 0.0),
        _is_turn(one),
        named,
        bool(one.own),
        one.told,
        one.echo or 0.0,
        time_fit(times, one.created) if times else 0.0,
        one.role == Role.ASSISTANT and not (assistant_wanted or named),
        one.importance,
        _DISTRUST[one.trust],
        question.near is not None and question.is_near(one),
    )
