"""A program that lets children make a home each and kills them on the way: `FOLDER COUNT SEED`.

What a child was told is in the file `told` in its folder, one line for each answer. A child waits to be killed when it
is done, and is killed a little after its n-th answer for every n, so that how fast the machine is decides nothing.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from recollectum import Recollectum

# The home, the vault and three memories.
_ANSWERS = 5


def main() -> None:
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[3])
    # Once for the imports, and then for the time it takes without them.
    _found(folder / "first")
    longest = max(_timed(folder / f"trial-{number}") for number in range(3))
    for number in range(count):
        place = folder / f"killed-{number}"
        child = os.fork()
        if child == 0:
            _found(place)
            while True:
                signal.pause()
        _wait_for_answers(place / "told", number % _ANSWERS)
        time.sleep(longest * seed.random() / _ANSWERS * 2)
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _wait_for_answers(told: Path, count: int) -> None:
    while count and (not told.exists() or told.read_bytes().count(b"\n") < count):
        time.sleep(0.0005)


def _timed(place: Path) -> float:
    began = time.monotonic()
    _found(place)
    return time.monotonic() - began


def _found(place: Path) -> None:
    place.mkdir()
    told = os.open(place / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with Recollectum(place / "home") as r:
        os.write(told, b"home\n")
        vault = r.vault("user:ann")
        os.write(told, b"vault\n")
        for number in range(3):
            os.write(told, f"{vault.memories.save(f'memory number {number}').id}\n".encode())
    os.close(told)


if __name__ == "__main__":
    main()
