"""Why a hit ranks where it does, as short bars with words."""

from dataclasses import dataclass

from recollectum.domain.hit import Hit, Rung

_NAMES = {
    "who": "who said it",
    "told": "how much it tells",
    "echo": "repeats the question",
    "when": "the time asked for",
    "near": "what stands beside it",
    "trust": "less trusted",
    "newest": "newer than its like",
    "rerank": "read again",
}
#: A bar this long is full.
FULL = 100


@dataclass(frozen=True, slots=True)
class Reason:
    """One reason: its name, how much it weighs from 0 to 100, and the figures behind it."""

    name: str
    weight: int
    detail: str
    #: `words`, `meaning`, `more` or `less`: which colour it has.
    sort: str


def reasons_of(hit: Hit) -> list[Reason]:
    """The reasons of a hit, those that found it first."""
    why = hit.reasons
    found: list[Reason] = []
    if why.text_rank is not None or why.text_score is not None:
        name = "a part of a word" if why.rung is Rung.SUBSTRING else "words"
        found.append(Reason(name, _by_place(why.text_rank), _place(why.text_rank, why.text_score, "BM25"), "words"))
    if why.vector_score is not None:
        weight = round(FULL * min(max(why.vector_score, 0.0), 1.0))
        found.append(Reason("meaning", weight, _place(why.vector_rank, why.vector_score, "cosine"), "meaning"))
    total = abs(hit.score) + max((abs(value) for _, value in why.added), default=0.0)
    for name, value in why.added:
        weight = min(FULL, max(6, round(FULL * abs(value) / (total or 1.0))))
        sort = "more" if value > 0 else "less"
        found.append(Reason(_NAMES.get(name, name.replace("_", " ")), weight, f"{value:+.3g} to the score", sort))
    return found


def _by_place(rank: int | None) -> int:
    """The first place is a full bar; each later one is a little shorter."""
    return 12 if rank is None else max(12, round(FULL / (1 + 0.18 * (rank - 1))))


def _place(rank: int | None, score: float | None, unit: str) -> str:
    told = [f"place {rank}" if rank is not None else "not among the nearest"]
    return ", ".join([*told, f"{unit} {score:.3g}"] if score is not None else told)
