"""Computes recall@k, MRR and nDCG of a ranking."""

import math
from collections.abc import Iterable, Mapping, Sequence

from recollectum.doors.cli.benchmark.labelled_set import LabelledQuery

#: The order in which metrics are shown.
METRICS = ("R@1", "R@5", "R@10", "session R@5", "session R@10", "hit@1", "MRR", "nDCG@10")
_NDCG_DEPTH = 10


def score(query: LabelledQuery, ranked: Sequence[str], session_of: Mapping[str, str]) -> dict[str, float]:
    """Return every metric that the query's gold allows; a session has the rank of its best unit."""
    found: dict[str, float] = {}
    if query.gold:
        found |= {f"R@{depth}": _share(query.gold, ranked[:depth]) for depth in (1, 5, 10)}
        found["hit@1"] = float(bool(ranked) and ranked[0] in query.gold)
        found["MRR"] = next((1 / place for place, one in enumerate(ranked, start=1) if one in query.gold), 0.0)
        found["nDCG@10"] = _ndcg(query.gold, ranked)
    if query.gold_sessions:
        sessions = list(dict.fromkeys(session_of[one] for one in ranked))
        found |= {f"session R@{depth}": _share(query.gold_sessions, sessions[:depth]) for depth in (5, 10)}
    return found


def means(rows: Iterable[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of each metric over the rows that have it, rounded to four places."""
    given = list(rows)
    found: dict[str, float] = {}
    for name in METRICS:
        values = [row[name] for row in given if name in row]
        if values:
            found[name] = round(math.fsum(values) / len(values), 4)
    return found


def percentile(values: Sequence[float], share: float) -> float:
    """Return the smallest value that at least this share does not exceed; 0 when there are none."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)] if values else 0.0


def _share(gold: frozenset[str], ranked: Sequence[str]) -> float:
    return len(gold.intersection(ranked)) / len(gold)


def _ndcg(gold: frozenset[str], ranked: Sequence[str]) -> float:
    gained = math.fsum(_gain(place) for place, one in enumerate(ranked[:_NDCG_DEPTH], start=1) if one in gold)
    best = math.fsum(_gain(place) for place in range(1, min(_NDCG_DEPTH, len(gold)) + 1))
    return gained / best


def _gain(place: int) -> float:
    return 1 / math.log2(place + 1)
