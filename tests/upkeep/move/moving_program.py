"""Moves vaults, and waits where a test says; a test kills it there.

`file PATTERN` waits at the first file whose path matches, `call PATTERN` and `return PATTERN` at a function.
"""

import os
import sys
import threading
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType

from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import system_clock
from recollectum.home.paths import Home
from recollectum.settings.load import load
from recollectum.upkeep.move import Move, move_home


def main() -> None:
    """Take the home, the address, the owners and the point from the command line."""
    root, url, owners, kind, name = Path(sys.argv[1]), *sys.argv[2:6]
    settings = load(Home(root), cwd=root, environ=os.environ).settings
    move = Move(
        home=Home(root),
        settings=settings,
        url_setting=url,
        url=url,
        environ=os.environ,
        clock=system_clock,
        owners=tuple(Owner.parse(one) for one in owners.split(",")) if owners else None,
    )
    _stop_at(kind, name)
    print("moving", flush=True)
    move_home(move)
    print("done", flush=True)


def _wait() -> None:
    # Only once: what the wait itself calls must not be looked at.
    sys.setprofile(None)
    print("there", flush=True)
    sys.stdin.read()


def _stop_at(kind: str, name: str) -> None:
    if kind == "file":

        def look(event: str, given: tuple[object, ...]) -> None:
            paths = {"open": given[:1], "os.rename": given[1:2]}.get(event, ())
            if any(fnmatch(str(path), name) for path in paths):
                _wait()

        sys.addaudithook(look)
    elif kind:

        def trace(frame: FrameType, event: str, _: object) -> None:
            is_there = event == kind and fnmatch(frame.f_code.co_qualname, name)
            if is_there and threading.current_thread().name == "MainThread":
                _wait()

        sys.setprofile(trace)


if __name__ == "__main__":
    main()
