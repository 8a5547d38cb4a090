"""Begins a session in alice's vault, or deletes one, as another process."""

import sys
from pathlib import Path

from tests.matrix.homes import Turning, open_home


def main(home: str, what: str, name: str) -> None:
    """Do one thing and end."""
    with open_home(Path(home), Turning()) as opened:
        sessions = opened.vault("user:alice").sessions
        if what == "begin":
            sessions.open(channel=name)
        else:
            sessions.delete(name)


if __name__ == "__main__":
    main(*sys.argv[1:])
