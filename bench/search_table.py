"""Prints the tables of a search benchmark: the cost of each way of searching, and other facts."""

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median, quantiles

#: What each line is compared with: ours with the plainest way, others with ours.
_AGAINST = {
    "vector part": "plain int8 scan",
    "text part": "bare FTS5, all words",
    "faiss flat, f32": "vector part",
    "sqlite-vec, int8": "vector part",
    "chromadb, in memory": "vector part",
}
_COLUMNS = ("chunks", "what", "CPU p50 ms", "CPU p95 ms", "wall p50 ms", "wall p95 ms", "CPU ratio")


@dataclass(frozen=True, slots=True)
class Costs:
    """The time of each of many searches, in milliseconds: wall clock and CPU."""

    size: int
    what: str
    wall: list[float]
    processor: list[float]

    def middle(self, *, processor: bool) -> float:
        """Return the median."""
        return median(self.processor if processor else self.wall)


@dataclass(frozen=True, slots=True)
class Fact:
    """Another measurement, in words; of one size, or of all."""

    size: int | None
    what: str
    found: str


def heading() -> str:
    """Return the first two lines of the table of costs."""
    return f"| {' | '.join(_COLUMNS)} |\n|---:|---|{'---:|' * (len(_COLUMNS) - 2)}"


def cost_lines(costs: Sequence[Costs]) -> str:
    """Return a line of the table for each way of searching."""
    known = {(one.size, one.what): one for one in costs}
    lines: list[str] = []
    for one in costs:
        numbers = [number for times in (one.processor, one.wall) for number in (median(times), _tail(times))]
        other = known.get((one.size, _AGAINST.get(one.what, "")))
        cells = [f"{one.size:,}", one.what, *(f"{number:.2f}" for number in numbers), _ratio(one, other)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def fact_table(facts: Sequence[Fact]) -> str:
    """Return a Markdown table of all facts."""
    lines = ["| chunks | what | found |", "|---:|---|---|"]
    lines += [f"| {'' if one.size is None else f'{one.size:,}'} | {one.what} | {one.found} |" for one in facts]
    return "\n".join(lines)


def _tail(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


def _ratio(one: Costs, other: Costs | None) -> str:
    if other is None:
        return ""
    # A clock with coarse steps may report no time at all.
    return f"{one.middle(processor=True) / max(other.middle(processor=True), 1e-6):.2f} × {other.what}"
