"""Moves a home, and waits at the first file whose path matches a pattern; a test kills it there."""

import os
import sys
from fnmatch import fnmatch
from pathlib import Path

from recollectum.domain.ids import system_clock
from recollectum.home.paths import Home
from recollectum.settings.load import load
from recollectum.upkeep.move import Move, move_home


def main() -> None:
    """Take the home, the address and the pattern from the command line."""
    root, url, stop = Path(sys.argv[1]), sys.argv[2], sys.argv[3]
    home = Home(root)
    settings = load(home, cwd=root, environ=os.environ).settings
    move = Move(home=home, settings=settings, url_setting=url, url=url, environ=os.environ, clock=system_clock)

    def look(event: str, given: tuple[object, ...]) -> None:
        paths = {"open": given[:1], "os.rename": given[1:2]}.get(event, ())
        if any(fnmatch(str(path), stop) for path in paths):
            print(f"at {stop}", flush=True)
            sys.stdin.read()

    sys.addaudithook(look)
    move_home(move)
    print("done", flush=True)


if __name__ == "__main__":
    main()
