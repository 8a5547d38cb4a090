"""Formats a benchmark run as one flat object, a small table, and a row per query."""

import json
from collections.abc import Mapping, Sequence

from recollectum.doors.cli.benchmark.labelled_set import LabelledSet
from recollectum.doors.cli.benchmark.metrics import METRICS, means, percentile
from recollectum.doors.cli.benchmark.runner import RETURNED, QueryResult

_SHORT = {"session R@5": "sR@5", "session R@10": "sR@10", "nDCG@10": "nDCG"}


def summary(data: LabelledSet, rows: Sequence[QueryResult]) -> dict[str, object]:
    """Return every number by name; with several categories, names start with the category."""
    costs = [row.cpu_ms for row in rows]
    found: dict[str, object] = {
        "set": data.name,
        "units": len(data.units),
        "queries": len(rows),
        **means(row.scores for row in rows),
        "tokens": round(sum(row.tokens for row in rows) / len(rows), 1),
        "CPU p50 ms": round(percentile(costs, 0.5), 2),
        "CPU p95 ms": round(percentile(costs, 0.95), 2),
        "rung": ", ".join(sorted({row.rung for row in rows})),
        "degraded": sum(row.degraded is not None for row in rows),
    }
    parts = _by_category(rows)
    if len(parts) > 1:
        for name, part in parts.items():
            found[f"{name} / queries"] = len(part)
            found |= {f"{name} / {metric}": value for metric, value in means(row.scores for row in part).items()}
    return found


def table(rows: Sequence[QueryResult]) -> list[str]:
    """Return the table: a line for all questions and one per category, below the names of the metrics."""
    categories = _by_category(rows)
    parts = {"all": rows, **(categories if len(categories) > 1 else {})}
    scores = {name: means(row.scores for row in part) for name, part in parts.items()}
    shown = [metric for metric in METRICS if metric in scores["all"]]
    width = max(map(len, parts))
    lines = [" ".join([" " * width, f"{'n':>5}", *(f"{_SHORT.get(metric, metric):>6}" for metric in shown)])]
    for name, part in parts.items():
        cells = (_cell(scores[name], metric) for metric in shown)
        lines.append(" ".join([f"{name:<{width}}", f"{len(part):>5}", *cells]))
    return lines


def describe_costs(found: Mapping[str, object]) -> str:
    """Return the cost of the answers as a sentence."""
    return (
        f"{found['tokens']} tokens in the first {RETURNED} hits; "
        f"CPU p50 {found['CPU p50 ms']} ms, p95 {found['CPU p95 ms']} ms a question; rung: {found['rung']}"
    )


def row_lines(rows: Sequence[QueryResult]) -> bytes:
    """Return a JSON object for each question; questions and answers are named only by ids."""
    return b"".join(json.dumps(_row(row)).encode() + b"\n" for row in rows)


def _row(row: QueryResult) -> dict[str, object]:
    return {
        "ns": row.query.space,
        "id": row.query.id,
        "category": row.query.category,
        **{name: round(value, 4) for name, value in row.scores.items()},
        "tokens": row.tokens,
        "cpu_ms": round(row.cpu_ms, 3),
        "rung": row.rung,
        "degraded": row.degraded,
        "gold": sorted(row.query.gold),
        "ranked": list(row.ranked[:RETURNED]),
    }


def _by_category(rows: Sequence[QueryResult]) -> dict[str, list[QueryResult]]:
    parts: dict[str, list[QueryResult]] = {}
    for row in sorted(rows, key=lambda one: one.query.category):
        parts.setdefault(row.query.category or "none", []).append(row)
    return parts


def _cell(scores: Mapping[str, float], metric: str) -> str:
    return f"{scores[metric]:6.3f}" if metric in scores else f"{'-':>6}"
