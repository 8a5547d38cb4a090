"""A program that makes or moves a key store and, when told to, kills itself at its n-th call."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from recollectum.home.keys import keyring_holder
from recollectum.home.keys.holders import HolderKind
from recollectum.home.keys.wrapping import MasterKey, new_key
from recollectum.home.paths import Home
from recollectum.storage.keystore import KeyStore


def main() -> None:
    """`create HOME N`, `move HOME N KEY_FILE` (N = 0: live, and print the number of calls), or `race HOME VAULT`."""
    task, home, argument, *rest = sys.argv[1:]
    root = Home(Path(home))
    _load()
    if task == "race":
        # All of them wait for the same line, so that they begin together.
        print("ready", flush=True)
        sys.stdin.readline()
        print(_create(root, argument).hex(), flush=True)
        return
    counter = FatalCounter(int(argument))
    sys.setprofile(counter)
    if task == "create":
        _create(root, "vlt_1")
    else:
        _move(root, rest[0])
    sys.setprofile(None)
    print(counter.calls)


def _load() -> None:
    """Import what is imported late, so that the calls which are counted are those that do the work."""
    keyring_holder.available()
    MasterKey.new().wrapped_by(new_key(), "trial")
    MasterKey.new().fingerprint()


class FatalCounter:
    """Counts calls of Python and C functions alike; the fatal one is the last thing that happens."""

    def __init__(self, fatal: int) -> None:
        self.calls = 0
        self._fatal = fatal

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401  (its form is given)
        if event in ("call", "c_call"):
            self.calls += 1
            if self.calls == self._fatal:
                os.kill(os.getpid(), signal.SIGKILL)


def _create(home: Home, vault_id: str) -> bytes:
    store = KeyStore.open(home, encryption="auto", environ=os.environ)
    key = store.make_key(vault_id)
    store.close()
    return key


def _move(home: Home, key_file: str) -> None:
    store = KeyStore.open(home, encryption="auto", environ=os.environ)
    store.hold_by(HolderKind.KEY_FILE, key_file=key_file)
    store.close()


if __name__ == "__main__":
    main()
