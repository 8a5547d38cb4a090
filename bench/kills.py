"""Sends 500 SIGKILLs to writers on one encrypted vault: acknowledged writes that are lost, and partial changes."""

import random
import tempfile
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from tests.crashes.killing import kill_writers

_KILLS = sized(500, 3)


def main() -> None:
    seed = random.SystemRandom().randrange(1 << 32)
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        toll = kill_writers(Path(folder), kills=_KILLS, seed=seed, longest=0.35)
    print(f"seed {seed}: {toll.line()}")
    for one in (*toll.lost, *toll.half)[:20]:
        print(f"  {one}")
