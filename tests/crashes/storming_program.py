"""A program that writes to a vault as fast as it can and says each number it was acknowledged: `HOME NAME`."""

import itertools
import os
import sys
from pathlib import Path

from recollectum import Recollectum


def main() -> None:
    home, name = sys.argv[1:]
    with Recollectum(Path(home)) as r:
        vault = r.vault("user:ann")
        chat = vault.sessions.open(channel=name, agent="main")
        for number in itertools.count():
            vault.memories.save(f"{name} keeps number {number}")
            chat.add("user", f"{name} says number {number}")
            os.write(1, f"{number}\n".encode())


if __name__ == "__main__":
    main()
