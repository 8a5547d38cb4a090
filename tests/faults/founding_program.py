"""A program that lets children make a home each and kills them on the way: `FOLDER COUNT SEED`.

What a child was told is in the file `told` in its folder, one line for each answer.
"""

import os
import random
import signal
import sys
import time
from pathlib import Path

from recollect import Recollect


def main() -> None:
    folder, count, seed = Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[3])
    # Once for the imports, and then for the time it takes without them, on a machine that may be busy.
    _found(folder / "first")
    longest = max(_timed(folder / f"trial-{number}") for number in range(3))
    killed = 0
    for number in range(count):
        child = os.fork()
        if child == 0:
            _found(folder / f"killed-{number}")
            os._exit(0)
        # Evenly from the beginning to well past the end.
        time.sleep(longest * 2 * (number + seed.random()) / count)
        os.kill(child, signal.SIGKILL)
        killed += os.WIFSIGNALED(os.waitpid(child, 0)[1])
    print(killed)


def _timed(place: Path) -> float:
    began = time.monotonic()
    _found(place)
    return time.monotonic() - began


def _found(place: Path) -> None:
    place.mkdir()
    told = os.open(place / "told", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with Recollect(place / "home") as r:
        os.write(told, b"home\n")
        vault = r.vault("user:ann")
        os.write(told, b"vault\n")
        for number in range(3):
            os.write(told, f"{vault.memories.save(f'memory number {number}').id}\n".encode())
    os.close(told)


if __name__ == "__main__":
    main()
