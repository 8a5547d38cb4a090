"""Cuts the power at 200 moments in 6 ways each, encrypted and plain, and once without the sync of a commit."""

import random
import tempfile
from pathlib import Path

from bench.sizes import sized
from tests.crashes.power import cut_power, record

_STEPS = sized(240, 20)
_POINTS = sized(200, 10)


def main() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    key = random.Random(seed).randbytes(32)
    print(f"seed {seed}")
    print("| vault | synchronous | states | distinct | lost in | corrupt | half |")
    print("|---|---|---|---|---|---|---|")
    for name, used, synchronous in (("encrypted", key, "full"), ("plain", None, "full"), ("encrypted", key, "normal")):
        with tempfile.TemporaryDirectory() as folder:
            recording = record(Path(folder), steps=_STEPS, seed=seed, key=used, synchronous=synchronous)
            verdict = cut_power(recording, Path(folder), points=_POINTS, seed=seed, key=used)
        counts = (verdict.states, verdict.distinct, len(verdict.lost), len(verdict.corrupt), len(verdict.half))
        print(f"| {name} | {synchronous} | {' | '.join(map(str, counts))} |", flush=True)
