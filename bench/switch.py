"""Changes the model of a vault of 50,000 chunks under constant queries; the builder is killed five times."""

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from tests.crashes.switching import switch

_ASKERS = ("old", "new", "new")


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench switch", description=__doc__)
    parser.add_argument("--chunks", type=int, default=sized(50_000, 600), help="pieces in the vault")
    parser.add_argument("--kills", type=int, default=sized(5, 1), help="how often the process that builds is killed")
    parser.add_argument("--delay", type=float, default=0.004, help="seconds that the model takes for one call")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        toll = switch(
            Path(folder), count=asked.chunks, kills=asked.kills, delay=asked.delay, seed=asked.seed, askers=_ASKERS
        )
    answered = ", ".join(f"{count} {rung}" for rung, count in sorted(toll.rungs.items()))
    print(f"seed {asked.seed}: {toll.pieces} pieces, {asked.kills} kills, {len(_ASKERS)} processes that ask")
    print("| what | count |")
    print("|---|---|")
    print(f"| questions | {toll.questions} ({answered}) |")
    print(f"| without a right answer | {len(toll.failed)} |")
    print(f"| answered from vectors of two models | {len(toll.mixed)} |")
    print(f"| by words alone without a reason | {len(toll.unexplained)} |")
    print(f"| pieces lost | {toll.lost} |")
    print(f"| kills that set it back | {toll.set_back} |")
    print(f"| pieces embedded twice | {toll.repeated} (at most {toll.repeated_at_most}) |")
    print(f"| pieces embedded to go back and forth | {toll.calls_back} |")
    print(f"| seconds from the first question to the swap | {toll.switch_seconds:.1f} |")
    print(f"| ms to go back | {1000 * toll.rollback_seconds:.0f} |")
    spread = [1000 * toll.within(share) for share in (0.5, 0.95, 1.0)]
    print(f"| ms of a question, p50 / p95 / longest | {' / '.join(f'{one:.0f}' for one in spread)} |")
    for one in (*toll.failed, *toll.mixed, *toll.unexplained)[:20]:
        print(f"  {one}")
    if not toll.clean:
        raise SystemExit(1)
