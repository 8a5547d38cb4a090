"""Changes the model of a vault of 50,000 chunks under constant queries; the builder is killed five times.

The models are made up, and take no time but `--delay`. With `--old gte-small --new recollectum-embed` they are the
installed ones, which embed every piece and every question.
"""

import argparse
import random
import tempfile
from collections.abc import Sequence
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.output import note
from recollectum.models.embedding.packages import find_package
from tests.crashes.switching import ModelChange, Toll, switch
from tests.crashes.switching_models import LENGTHS

#: Whether each process that asks has the new model in its settings.
_ASKERS = (False, True, True)
#: Of the vectors of installed models, one in so many is computed again at the end.
_CHECKED = 10


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench switch", description=__doc__)
    parser.add_argument("--chunks", type=int, default=sized(50_000, 600), help="pieces in the vault")
    parser.add_argument("--kills", type=int, default=sized(5, 1), help="how often the process that builds is killed")
    parser.add_argument("--delay", type=float, default=0.004, help="seconds that the model takes for one call")
    parser.add_argument("--old", default="old", metavar="MODEL", help="an installed model that made the vectors")
    parser.add_argument("--new", default="new", metavar="MODEL", help="an installed model that takes over")
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    asked = parser.parse_args(arguments)
    models = _models(asked.old, asked.new, asked.delay)
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        toll = switch(
            Path(folder),
            count=asked.chunks,
            kills=asked.kills,
            seed=asked.seed,
            askers=_ASKERS,
            models=models,
            progress=note,
        )
    report(toll, asked.kills, asked.seed, models)
    if not toll.clean:
        raise SystemExit(1)


def _models(old: str, new: str, delay: float) -> ModelChange:
    if old == new:
        raise InvalidInput(f"--old and --new are both {old!r}; name two models")
    for name in {old, new} - LENGTHS.keys():
        # Raises, with the command that installs it, what is missing.
        find_package(name).open()
    return ModelChange(old, new, delay, 1 if {old, new} <= LENGTHS.keys() else _CHECKED)


def report(toll: Toll, kills: int, seed: int, models: ModelChange) -> None:
    """Print what the change cost."""
    answered = ", ".join(f"{count} {rung}" for rung, count in sorted(toll.rungs.items()))
    change = f"{models.old} to {models.new}, {toll.pieces} pieces, {kills} kills"
    print(f"seed {seed}: {change}, {len(_ASKERS)} processes that ask")
    print("| what | count |")
    print("|---|---|")
    print(f"| questions | {toll.questions} ({answered}) |")
    print(f"| without a right answer | {len(toll.failed)} |")
    print(f"| answered from vectors of two models | {len(toll.mixed)} |")
    print(f"| by words alone without a reason | {len(toll.unexplained)} |")
    print(f"| pieces lost, 1 vector in {models.checked} computed again | {toll.lost} |")
    print(f"| kills that set it back | {toll.set_back} |")
    print(f"| pieces embedded twice | {toll.repeated} (at most {toll.repeated_at_most}) |")
    print(f"| pieces embedded to go back and forth | {toll.calls_back} |")
    print(f"| seconds from the first question to the swap | {toll.switch_seconds:.1f} |")
    print(f"| ms to go back | {1000 * toll.rollback_seconds:.0f} |")
    spread = [1000 * toll.within(share) for share in (0.5, 0.95, 1.0)]
    print(f"| ms of a question, p50 / p95 / longest | {' / '.join(f'{one:.0f}' for one in spread)} |")
    for one in (*toll.failed, *toll.mixed, *toll.unexplained)[:20]:
        print(f"  {one}")
