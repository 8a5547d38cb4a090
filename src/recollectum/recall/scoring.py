"""Fuses z-scores of BM25 and cosine with further signals."""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from heapq import nlargest
from operator import itemgetter
from typing import NamedTuple


@cache
def _assistant_words() -> re.Pattern[str]:
    # Asks for what an assistant said, as in "what did you suggest?". A request such as "can you tell me my address?"
    # does not. Compiled at the first question, because it takes milliseconds.
    return re.compile(
        r"\bthe assistant\b|\b(?:did|had|have|were) you\b"
        r"|\byou(?:['’](?:d|ve)| had| have)? (?:\w+ly )?(?:said|suggested|recommended|told|gave|given|mentioned|advised"
        r"|proposed|listed|explained|described|provided|wrote|written)\b"
        r"|\byour (?:\w+ )?(?:suggestion|recommendation|advice|answer|tip|list|idea|plan|recipe|explanation|reply)"
        # "haben Sie" is said to somebody, "haben sie" about others.
        r"|\b(?:hast|hattest|sagtest|meintest|rietst) du\b|\b(?:haben|hatten) (?-i:Sie)\b"
        r"|\bdeine?[rnms]? (?:vorschlag|vorschläge|rat|tipp|antwort|empfehlung|idee)"
        r"|\b(?:as-tu|avez-vous|tu (?:m['’]|me )?as|tu avais|vous (?:m['’])?avez)\b"
        r"|\bt(?:on|a|es) (?:avis|conseil|réponse|idée|suggestion)"
        r"|\b(?:dijiste|recomendaste|sugeriste|diste|aconsejaste|propusiste|explicaste)\b"
        r"|\bhas (?:dicho|recomendado|sugerido|dado|aconsejado|propuesto|explicado)\b"
        r"|\bhai (?:detto|consigliato|suggerito|dato|proposto|spiegato)\b"
        r"|\bvocê (?:disse|recomendou|sugeriu|deu|explicou)\b|\b(?:heb|had|zei) je\b"
        r"|(?:勧め|教え|提案し|言っ|紹介し)(?:た|て(?:くれた|くださった|いただいた|もらった|いた))",
        re.IGNORECASE,
    )


def asks_the_assistant(query: str) -> bool:
    """Return whether a question asks for what an assistant said."""
    return _assistant_words().search(query) is not None


#: A written text names its subject; a turn often has it in the turn before. So the words of a turn count more for the
#: turns around it than for itself.
LEXICAL_WEIGHT = 0.25
CONTEXT_LEXICAL_WEIGHT = 0.4
WRITTEN_LEXICAL_WEIGHT = 0.6
#: The most that the BM25 score of a written text counts, in standard deviations. Where few of them have a word of the
#: question, one shared word would be many deviations above the others, and decide alone.
WRITTEN_LEXICAL_MOST = 4.0
#: A turn, or a written text, without a vector: its whole score is that of its words.
WORDS_ALONE_WEIGHT, WRITTEN_WORDS_ALONE_WEIGHT = 0.5, 0.75
SPEAKER_WEIGHT = 0.8
FIRST_PERSON_WEIGHT = 0.45
#: People state their facts themselves; an assistant's turn has many words of the topic and none of the facts.
ASSISTANT_WEIGHT = 1.5
#: A turn of a dialogue gains from the strongest match in the turns just before it, which name what it is about; less
#: from the turns just after it; and from the strongest other match in its session.
BEFORE_WEIGHT, BEFORE_TURNS, BEFORE_DECAY = 0.3, 5, 0.85
#: And from the turn right before it where somebody else asks in it, because then it is probably the reply.
REPLY_WEIGHT = 0.2
AFTER_WEIGHT, AFTER_TURNS = 0.15, 2
SESSION_WEIGHT = 0.2
TOLD_WEIGHT = 1.5
TOLD_HALF_SATURATION = 5
#: With this many words that tell something, a turn is as good as a memory.
TOLD_NEUTRAL = 20
ECHO_WEIGHT = 2.0
TIME_WEIGHT = 2.0
#: Small weights, which decide between otherwise equal scores.
IMPORTANCE_WEIGHT = 0.4
TRUST_WEIGHT = 0.3
#: A text of the project that is asked from; less than what a better match gains.
PROJECT_WEIGHT = 0.3
_ROUNDING = 1e-9


class SearchCandidate(NamedTuple):
    """The features of one chunk for one question."""

    number: int
    #: None when it has no vector yet.
    cosine: float | None
    bm25: float
    #: Whether it is a turn of a conversation, and not a memory or a document.
    turn: bool = False
    named: bool = False
    own: bool = False
    told: int | None = None
    echo: float = 0.0
    #: How well its time fits the one that the question names, from 0 to 1.
    when: float = 0.0
    #: Whether an assistant said it, and the question does not ask for that.
    assistant: bool = False
    #: From 0 to 1; 0.5 is normal.
    importance: float = 0.5
    #: The number of trust levels below the owner's own word.
    distrust: int = 0
    #: Whether it belongs to the project that is asked from.
    near: bool = False


class FusedScore(NamedTuple):
    """The score of a candidate: its number, its score, and what each signal added to that of the arms."""

    number: int
    score: float
    #: How well it matches, for the turns around it.
    strength: float
    added: tuple[tuple[str, float], ...]


class ZScale(NamedTuple):
    """The means and deviations that turn both arms' scores into z-scores of one pool."""

    cosine: tuple[float, float]
    bm25: tuple[float, float]

    def base(self, cosine: float | None, bm25: float, *, turn: bool) -> float:
        """Return the fused score of both arms for a turn of a conversation, or for a written text."""
        if not turn and cosine is None:
            return self._fused(None, bm25, WRITTEN_WORDS_ALONE_WEIGHT)
        if not turn:
            return self._fused(cosine, bm25, WRITTEN_LEXICAL_WEIGHT, WRITTEN_LEXICAL_MOST)
        return self._fused(cosine, bm25, WORDS_ALONE_WEIGHT if cosine is None else LEXICAL_WEIGHT)

    def strength(self, cosine: float | None, bm25: float) -> float:
        """Return how well a turn matches, for the turns around it."""
        return self._fused(cosine, bm25, WORDS_ALONE_WEIGHT if cosine is None else CONTEXT_LEXICAL_WEIGHT)

    def _fused(self, cosine: float | None, bm25: float, weight: float, most: float = math.inf) -> float:
        middle, unit = self.cosine
        near = 0.0 if cosine is None else (cosine - middle) * unit
        middle, unit = self.bm25
        return near + weight * min((bm25 - middle) * unit, most)

    def bases(self, pairs: Iterable[tuple[float | None, float]]) -> list[float]:
        """Return the fused score of each pair of a cosine and a BM25 score, as of turns."""
        # Not a call of `base` for each: there are a hundred or more.
        (cosine_mean, cosine_unit), (bm25_mean, bm25_unit) = self
        return [
            WORDS_ALONE_WEIGHT * (bm25 - bm25_mean) * bm25_unit
            if cosine is None
            else (cosine - cosine_mean) * cosine_unit + LEXICAL_WEIGHT * (bm25 - bm25_mean) * bm25_unit
            for cosine, bm25 in pairs
        ]


def measure_scale(cosines: Iterable[float], scores: Iterable[float]) -> ZScale:
    """Return the scale of a pool of candidates: the cosines of those that have a vector, and the BM25 scores of all."""
    return ZScale(_mean_and_inverse_deviation(list(cosines)), _mean_and_inverse_deviation(list(scores)))


def fuse_scores(candidates: Sequence[SearchCandidate], scale: ZScale | None = None) -> tuple[list[FusedScore], ZScale]:
    """Return every candidate with its score, best first, the newer first in a tie; and the scale."""
    if scale is None:
        scale = measure_scale(
            [one.cosine for one in candidates if one.cosine is not None], [one.bm25 for one in candidates]
        )
    fused: list[FusedScore] = []
    for one in candidates:
        base = scale.base(one.cosine, one.bm25, turn=one.turn)
        strength = scale.strength(one.cosine, one.bm25) if one.turn else base
        added = _signal_scores(one)
        fused.append(FusedScore(one.number, base + sum([value for _, value in added]), strength, tuple(added)))
    return _by_score(fused), scale


class TurnPlace(NamedTuple):
    """The place of a turn: its session, its position there, who said it, and whether it asks or says little."""

    session: str
    position: int
    author: str
    asks: bool = False


def boost_by_context(ranked: Sequence[FusedScore], places: Mapping[int, TurnPlace]) -> list[FusedScore]:
    """Return the scores with what each turn gains from the matches around it in its dialogue.

    Only candidates count as matches, and only in sessions where candidates of two authors were found: the notes that
    one person writes one after the other are about different things.
    """
    first_author: dict[str, str] = {}
    #: By session and position, the strength of the best match there.
    sessions: dict[str, dict[int, float]] = {}
    found = [(one, place) for one in ranked if (place := places.get(one.number))]
    for _, place in found:
        if first_author.setdefault(place.session, place.author) != place.author:
            sessions[place.session] = {}
    if not sessions:
        return _by_score(ranked)
    for one, place in found:
        strengths = sessions.get(place.session)
        if strengths is not None:
            strengths[place.position] = max(strengths.get(place.position, 0.0), one.strength)
    asked = {(place.session, place.position): place.author for _, place in found if place.asks}
    dialogues = {
        session: (strengths, nlargest(2, strengths.items(), key=_strength)) for session, strengths in sessions.items()
    }
    return _by_score(
        [
            _with_context(
                one,
                place.position,
                *dialogues[place.session],
                reply=asked.get(_before(place), place.author) != place.author,
            )
            if (place := places.get(one.number)) and place.session in dialogues
            else one
            for one in ranked
        ]
    )


def _before(place: TurnPlace) -> tuple[str, int]:
    return place.session, place.position - 1


def _strength(turn: tuple[int, float]) -> float:
    return turn[1]


def _with_context(
    one: FusedScore,
    position: int,
    strengths: Mapping[int, float],
    strongest: Sequence[tuple[int, float]],
    *,
    reply: bool,
) -> FusedScore:
    """Return the score of a turn with its gains; `strongest` has the two strongest turns of its session.

    `reply` says whether somebody else asks in the turn right before it.
    """
    before = [strengths.get(position - back, 0.0) * BEFORE_DECAY ** (back - 1) for back in range(1, BEFORE_TURNS + 1)]
    after = [strengths.get(position + ahead, 0.0) for ahead in range(1, AFTER_TURNS + 1)]
    elsewhere = [strength for other, strength in strongest if other != position]
    gains = (
        ("before", BEFORE_WEIGHT * max(before, default=0.0)),
        ("reply", REPLY_WEIGHT * strengths.get(position - 1, 0.0) if reply else 0.0),
        ("after", AFTER_WEIGHT * max(after, default=0.0)),
        ("session", SESSION_WEIGHT * max(elsewhere, default=0.0)),
    )
    added = [(name, gain) for name, gain in gains if gain]
    return one._replace(score=one.score + sum([gain for _, gain in added]), added=(*one.added, *added))


#: The fields `score` and `number`: read by place, a sort takes a third of the time.
_SCORE_AND_NUMBER = itemgetter(1, 0)


def _by_score(fused: Sequence[FusedScore]) -> list[FusedScore]:
    return sorted(fused, key=_SCORE_AND_NUMBER, reverse=True)


def _signal_scores(one: SearchCandidate) -> list[tuple[str, float]]:
    """Return what each signal adds, without those that add nothing."""
    added: list[tuple[str, float]] = []
    if one.named:
        added.append(("who", SPEAKER_WEIGHT + FIRST_PERSON_WEIGHT * one.own))
    if one.turn and one.told is not None and one.told != TOLD_NEUTRAL:
        # Measured from an average turn, since a memory or a document gains and loses nothing here.
        enough = TOLD_HALF_SATURATION / (TOLD_NEUTRAL + TOLD_HALF_SATURATION)
        added.append(("told", TOLD_WEIGHT * (enough - TOLD_HALF_SATURATION / (one.told + TOLD_HALF_SATURATION))))
    if one.echo:
        added.append(("echo", -ECHO_WEIGHT * one.echo))
    if one.assistant:
        # Without a vector the whole score is that of the words, which must be able to outweigh this.
        added.append(("assistant", -ASSISTANT_WEIGHT * (WORDS_ALONE_WEIGHT if one.cosine is None else 1.0)))
    if one.when:
        added.append(("when", TIME_WEIGHT * one.when))
    if one.importance != 0.5 or one.distrust or one.near:
        added += _small_scores(one)
    return added


def _small_scores(one: SearchCandidate) -> list[tuple[str, float]]:
    """Return what the signals add that decide between otherwise equal scores."""
    added: list[tuple[str, float]] = []
    if one.importance != 0.5:
        added.append(("importance", IMPORTANCE_WEIGHT * (one.importance - 0.5)))
    if one.distrust:
        added.append(("trust", -TRUST_WEIGHT * one.distrust))
    if one.near:
        added.append(("project", PROJECT_WEIGHT))
    return added


def _mean_and_inverse_deviation(values: list[float]) -> tuple[float, float]:
    """Return the mean of the values, and the inverse of their deviation."""
    if not values:
        return 0.0, 0.0
    mean = math.fsum(values) / len(values)
    spread = math.sqrt(math.fsum([(value - mean) ** 2 for value in values]) / len(values))
    # Equal scores differ by rounding; scaling that difference would amplify noise.
    return mean, 1 / spread if spread > _ROUNDING * max(1.0, abs(mean)) else 0.0
