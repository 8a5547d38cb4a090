"""A program that makes one backup after the other until it is killed, and says each: `HOME FOLDER`."""

import os
import sys
from pathlib import Path

from recollectum import Recollectum
from recollectum.upkeep.backup.backup import back_up


def main() -> None:
    home, folder = sys.argv[1:]
    with Recollectum(Path(home)) as r:
        os.write(1, b"begun\n")
        while True:
            made = back_up(r.admin, to=Path(folder))
            os.write(1, f"{made.path.name}\n".encode())


if __name__ == "__main__":
    main()
