"""Runs in a process of its own: writes until it is killed, kills itself at a given step, or refreshes once."""

import os
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

from recollectum.domain.access.credential import OAuthToken, ServiceApiKey
from recollectum.home.credentials.token_import import import_tokens
from recollectum.home.paths import Home
from tests.home.credentials.stores import CANARY, open_store, token

#: Everything by which our code changes a disk.
CALLS = ("open", "write", "fsync", "rename", "replace", "unlink")


def write_on(home: Home) -> None:
    """Set one key again and again, and say after each that it is kept."""
    store = open_store(home)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(1_000_000):
        store.save("X", ServiceApiKey(f"value-{number}"))
        print(number, flush=True)


def die_at(step: int, work: Callable[[], object]) -> None:
    """Do the work, and die with no warning before the given call that touches the disk."""
    calls = 0

    def dying(real: Callable[..., object]) -> Callable[..., object]:
        def call(*given: object, **named: object) -> object:
            nonlocal calls
            calls += 1
            if calls == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return real(*given, **named)

        return call

    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))
    work()
    print("done", flush=True)


def refresh(home: Home) -> None:
    """Ask for a usable token; each question to the server is a line of a file."""
    store = open_store(home)
    print("ready", flush=True)
    sys.stdin.readline()

    def ask(old: OAuthToken) -> OAuthToken:
        with (home.root / "asked").open("a") as asked:
            asked.write(f"{old.access_token}\n")
        # As slow as a server, so that the others come while it is being asked.
        time.sleep(0.2)
        return token("fresh", minutes=60)

    print(store.refresh("mail", ask).access_token, flush=True)


def main(what: str, root: str, *more: str) -> None:
    """The one that is named."""
    home = Home(Path(root))
    match what:
        case "write":
            write_on(home)
        case "refresh":
            refresh(home)
        case "set":
            store = open_store(home)
            die_at(int(more[0]), lambda: store.save("X", ServiceApiKey(CANARY)))
        case _:
            store = open_store(home)
            die_at(int(more[0]), lambda: import_tokens(home, store, Path(more[1])))


if __name__ == "__main__":
    main(*sys.argv[1:])
