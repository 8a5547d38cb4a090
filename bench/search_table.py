"""The tables of a search benchmark: what each way of searching takes, and what else was found out."""

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
    """How long each of many searches took, in milliseconds: by the clock, and of the processor."""

    size: int
    what: str
    wall: list[float]
    processor: list[float]

    def middle(self, *, processor: bool) -> float:
        """The median."""
        return median(self.processor if processor else self.wall)


@dataclass(frozen=True, slots=True)
class Fact:
    """Something else that was measured, in words; of one size, or of all."""

    size: int | None
    what: str
    found: str


def heading() -> str:
    """The first two lines of the table of costs."""
    return f"| {' | '.join(_COLUMNS)} |\n|---:|---|{'---:|' * (len(_COLUMNS) - 2)}"


def cost_lines(costs: Sequence[Costs]) -> str:
    """A line of the table for each way of searching."""
    known = {(one.size, one.what): one for one in costs}
    lines: list[str] = []
    for one in costs:
        numbers = [number for times in (one.processor, one.wall) for number in (median(times), _tail(times))]
        other = known.get((one.size, _AGAINST.get(one.what, "")))
        cells = [f"{one.size:,}", one.what, *(f"{number:.2f}" for number in numbers), _ratio(one, other)]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


def fact_table(facts: Sequence[Fact]) -> str:
    """A Markdown table with a line for everything else."""
    lines = ["| chunks | what | found |", "|---:|---|---|"]
    lines += [f"| {'' if one.size is None else f'{one.size:,}'} | {one.what} | {one.found} |" for one in facts]
    return "\n".join(lines)


def _tail(times: Sequence[float]) -> float:
    return quantiles(times, n=20)[-1]


def _ratio(one: Costs, other: Costs | None) -> str:
    if other is None:
        return ""
    # A clock that counts in steps may say that something took no time.
    return f"{one.middle(processor=True) / max(other.middle(processor=True), 1e-6):.2f} × {other.what}"
