"""A program that works on one vault with a scripted embedder: `update HOME MODEL` or `search HOME NAME SECONDS`."""

import json
import os
import sys
import time
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.vault import Vault


def main() -> None:
    """Say `ready`, wait for a line so that all begin together, and do it."""
    task, home, name, *rest = sys.argv[1:]
    os.write(1, b"ready\n")
    sys.stdin.readline()
    if task == "update":
        # Slow enough that it can be killed between any two steps.
        with Recollectum(Path(home), embedder=ScriptedEmbedder(name, delay_seconds=0.04)) as r:
            _update(r.vault("user:ann"))
    else:
        with Recollectum(Path(home), embedder=ScriptedEmbedder()) as r:
            print(json.dumps(_search(r.vault("user:ann"), name, float(rest[0]))), flush=True)


def _update(vault: Vault) -> None:
    vault.admin.index.update(lambda count: _say(str(count)))
    _say("done")


def _say(line: str) -> None:
    os.write(1, f"{line}\n".encode())


def _search(vault: Vault, name: str, seconds: float) -> dict[str, list[str]]:
    """Write and look for what was written, until the time is over."""
    told: dict[str, list[str]] = {"saved": [], "missed": [], "failed": []}
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        word = f"{name}x{len(told['saved']) + len(told['failed'])}"
        try:
            memory = vault.memories.save(f"the word {word} was written").memory
            told["saved"].append(word)
            if memory.id not in [hit.source.memory_id for hit in vault.recall(word)]:
                told["missed"].append(word)
        except RecollectumError as error:
            told["failed"].append(f"{word}: {error}")
    return told


if __name__ == "__main__":
    main()
