"""Runs 4 processes × 400 read-modify-writes of one memory: lost updates, lock errors, and write times."""

import tempfile
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from tests.crashes.contending import count_together

_PROCESSES = 4
_TIMES = sized(400, 10)
_ROUNDS = sized(3, 1)


def main() -> None:
    print("| expected | counted | heard of a lock | conflicts tried again | p50 ms | p99 ms |")
    print("|---|---|---|---|---|---|")
    for _ in range(_ROUNDS):
        with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
            count = count_together(Path(folder) / "home", processes=_PROCESSES, times=_TIMES)
        middle, tail = count.within(0.5) * 1000, count.within(0.99) * 1000
        print(
            f"| {_PROCESSES * _TIMES} | {count.final} | {count.busy} | {count.conflicts} | {middle:.1f} | {tail:.1f} |",
            flush=True,
        )
