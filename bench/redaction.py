"""Measures redaction: found secrets of each kind, innocent texts that are changed, and the time per message."""

import time
from statistics import median, quantiles

from bench.redaction_examples import ordinary_lines
from bench.redaction_set.innocents import innocents
from bench.redaction_set.measure import (
    CLAIMED_BAR,
    LISTED_BAR,
    SPOILT_BAR,
    Score,
    kinds,
    recall,
    spoilt,
    total,
)
from bench.sizes import sized
from recollectum.text.secrets.redaction import redact

#: At least five values of each kind in each half of the set.
_EACH = sized(60, 5)
_LINES = sized(10_000, 200)
_MESSAGE = 500


def main() -> None:
    print("| kind | in texts tuned on | in texts held out |\n|---|---|---|")
    claimed = _table(listed=False)
    listed = _table(listed=True)
    print()
    for what, scores, bar in (("kinds claimed", claimed, CLAIMED_BAR), ("kinds of the list", listed, LISTED_BAR)):
        tuned, held = (total([pair[half] for pair in scores]) for half in (0, 1))
        print(f"{len(scores)} {what}: recall {total([tuned, held])} (bar {bar}); tuned on {tuned}, held out {held}")
    for held in (False, True):
        made = Score(len(spoilt(held=held)), len(innocents(held=held)))
        print(f"innocent texts spoilt, {'held out' if held else 'tuned on'}: {made} (bar {SPOILT_BAR})")
    lines = ordinary_lines(_LINES)
    print(f"ordinary lines spoilt: {Score(sum(bool(redact(line).found) for line in lines), _LINES)}")
    times = _times("\n".join(lines))
    middle, late = median(times) * 1e3, quantiles(times, n=100)[98] * 1e3
    print(f"a message of {_MESSAGE} characters, CPU: p50 {middle:.3f} ms, p99 {late:.3f} ms")


def _table(*, listed: bool) -> list[tuple[Score, Score]]:
    found = {kind: (_score(kind, held=False), _score(kind, held=True)) for kind in kinds(listed=listed)}
    for kind, (tuned, held) in found.items():
        print(f"| {kind} | {tuned} | {held} |")
    return list(found.values())


def _score(kind: str, *, held: bool) -> Score:
    return recall(kind, held=held, each=_EACH)


def _times(text: str) -> list[float]:
    taken: list[float] = []
    for start in range(0, len(text) - _MESSAGE, _MESSAGE):
        message = text[start : start + _MESSAGE]
        began = time.process_time()
        redact(message)
        taken.append(time.process_time() - began)
    return taken
