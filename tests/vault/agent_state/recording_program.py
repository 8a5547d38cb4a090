"""A program that records commands as a shell does, while others do the same: FOLDER, NUMBER and how many."""

import sys
from pathlib import Path

from tests.matrix.homes import Turning, open_home


def main() -> None:
    """Say `ready`, wait for a line so that all begin together, and record the commands one by one."""
    folder, shell, times = sys.argv[1:]
    with open_home(Path(folder), Turning()) as home:
        history = home.vault("user:alice").state.history
        print("ready", flush=True)
        sys.stdin.readline()
        for number in range(int(times)):
            history.add(f"echo {shell} {number}\n# line 2", project=str(int(shell) % 2) * 64)
    print("done", flush=True)


if __name__ == "__main__":
    main()
