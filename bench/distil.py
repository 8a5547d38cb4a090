"""Measures how the functions that read what was said grow with their text: each with hostile texts, slowest first."""

import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

from bench.sizes import sized
from tests.distil.test_growth import SCANS, UNITS

_SIZE = sized(48_000, 4_000)
_UNITS = sized(UNITS, UNITS[:3])
_SHOWN = 10
#: Below this, the growth is that of the clock.
_MEASURABLE_MS = 1.0
_DOUBTFUL = 6.0


class Growth(NamedTuple):
    """The CPU time of a function for one text, and how many times as long it takes as for a quarter of the text."""

    ms: float
    times: float
    name: str
    unit: str


def growths() -> Iterator[Growth]:
    """Yield the growth of every function with every text."""
    for name, scan in SCANS.items():
        scan("a b")
        for unit in _UNITS:
            text = (unit * (_SIZE // len(unit) + 1))[:_SIZE]
            found = _grow(scan, text, rounds=1)
            # One slow round may be the machine's.
            whole, times = _grow(scan, text, rounds=3) if found[1] > _DOUBTFUL else found
            yield Growth(whole, times, name, unit)


def _grow(scan: Callable[[str], object], text: str, rounds: int) -> tuple[float, float]:
    whole = min(_milliseconds(scan, text) for _ in range(rounds))
    part = min(_milliseconds(scan, text[: _SIZE // 4]) for _ in range(rounds))
    return whole, whole / max(part, 1e-6)


def _milliseconds(scan: Callable[[str], object], text: str) -> float:
    began = time.thread_time()
    scan(text)
    return (time.thread_time() - began) * 1000


def main() -> None:
    found = sorted(growths(), reverse=True)
    print(f"{len(SCANS)} functions, {len(_UNITS)} texts of {_SIZE:,} characters\n")
    print("| function | text | CPU ms | against a quarter of the text |\n|---|---|--:|--:|")
    for one in found[:_SHOWN]:
        print(f"| `{one.name}` | `{one.unit!r}` | {one.ms:.1f} | {one.times:.1f} × |")
    measured = [one.times for one in found if one.ms > _MEASURABLE_MS]
    print(f"\ngrows at most {max(measured, default=0.0):.1f} ×; four times the text, so 16 × would be the square")
