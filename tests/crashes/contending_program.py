"""A program that works on one vault while others do the same: `count`, `append` or `found`, then HOME and NAME."""

import json
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import Busy, Conflict
from recollectum.vault.vault import Vault

KEY = "counter"


def main() -> None:
    """Say `ready`, wait for a line so that all begin together, and print what happened as JSON."""
    task, home, name, times = sys.argv[1:]
    work = {"count": _count, "append": _append, "found": _found}[task]
    print("ready", flush=True)
    sys.stdin.readline()
    with Recollectum(Path(home)) as r:
        told = work(r.vault("user:ann"), name, int(times))
    print(json.dumps(told), flush=True)


def _count(vault: Vault, name: str, times: int) -> dict[str, object]:
    """Read the number in a memory, add one, write it back; again when somebody else was quicker."""
    tally = _Tally()
    done = 0
    while done < times:
        memory = vault.memories.find(KEY)
        assert memory is not None
        following = f"the counter stands at {int(memory.content.rpartition(' ')[2]) + 1}"
        done += tally.attempt(partial(vault.memories.edit, memory.id, following, version=memory.version))
    return tally.told()


def _append(vault: Vault, name: str, times: int) -> dict[str, object]:
    """Add messages to the one session that all share."""
    tally = _Tally()
    chat = vault.sessions.open(channel="test", agent="main")
    for number in range(times):
        tally.attempt(partial(chat.add, "user", f"{name} says {number}"))
    return tally.told()


def _found(vault: Vault, name: str, times: int) -> dict[str, object]:
    """Be one of several who make the home and the vault."""
    return {"saved": [vault.memories.save(f"{name} was here {number} times").id for number in range(times)]}


class _Tally:
    """What a caller saw, and how long it waited."""

    def __init__(self) -> None:
        self._seconds: list[float] = []
        self._conflicts = self._busy = 0

    def attempt(self, work: Callable[[], object]) -> bool:
        began = time.perf_counter()
        try:
            work()
        except Conflict:
            self._conflicts += 1
            return False
        except Busy:
            self._busy += 1
            return False
        self._seconds.append(time.perf_counter() - began)
        return True

    def told(self) -> dict[str, object]:
        return {"seconds": self._seconds, "conflicts": self._conflicts, "busy": self._busy}


if __name__ == "__main__":
    main()
