"""Lets 8 processes write to and search one vault for a minute: what keyword search or vector search (2 s) missed."""

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from tests.crashes.eight_together import within, write_together

#: The promised limits.
_SOON = 2.0


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench together", description=__doc__)
    parser.add_argument("--seconds", type=float, default=sized(60.0, 2.0), help="how long")
    parser.add_argument("--processes", type=int, default=sized(8, 3), help="how many at once")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        found = write_together(Path(folder), processes=asked.processes, seconds=asked.seconds, soon=_SOON)
    print("| writes | of others looked for | failed | not by text at once | not by meaning within 2 s |")
    print("|---|---|---|---|---|")
    wrong = (found.failed, found.not_by_text, found.not_by_meaning)
    print(f"| {found.writes} | {found.others} | {' | '.join(str(len(one)) for one in wrong)} |")
    print("\n| ms | p50 | p95 | longest |")
    print("|---|---|---|---|")
    for name, seconds in (
        ("a write", found.write_seconds),
        ("found by text", found.text_seconds),
        ("found by meaning", found.meaning_seconds),
    ):
        print(f"| {name} | {' | '.join(f'{1000 * within(seconds, share):.0f}' for share in (0.5, 0.95, 1.0))} |")
    for line in [line for one in wrong for line in one][:20]:
        print(f"  {line}")
    if not found.clean:
        raise SystemExit(1)
