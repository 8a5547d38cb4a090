"""A program that gives a vault new keys and is killed each time, some steps later: `FOLDER URL EVERY`.

A step is a statement of the rewriting, a COMMIT or its answer, or a change of keys.db. After each kill the home is
opened as any command would, and looked at. Prints how many kills there were, after how many of them the vault had a
new key, and what was wrong.
"""

import json
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from recollectum.storage.postgres import database as postgres_database
from recollectum.storage.postgres.transaction import PostgresTx
from recollectum.storage.sqlite.database import SqliteDatabase
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from tests.storage.postgres.rekeyed_homes import OWNER, digests, fill_every_column, open_rekeyed


class _Steps:
    """Counts steps, and kills the process before the fatal one."""

    def __init__(self, fatal: int) -> None:
        self._left = fatal

    def take(self) -> None:
        self._left -= 1
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

    def counted(self, act: Callable[..., Any], *, twice: bool = False) -> Callable[..., Any]:
        """The same act, as one step, or as two: the act itself, and going on after it."""

        def run(*given: Any, **named: Any) -> Any:  # noqa: ANN401 - whatever the act takes
            self.take()
            done = act(*given, **named)
            if twice:
                self.take()
            return done

        return run


def main() -> None:
    folder, url, every = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    with open_rekeyed(folder, url) as home:
        fill_every_column(home.vault(OWNER), folder / "notes")
        before, key = digests(home.vault(OWNER), folder), home.admin.keys.key(home.admin.entries()[0].id)
    kills = changes = step = 0
    wrong: list[str] = []
    while _dies(folder, url, step := step + every):
        kills += 1
        with open_rekeyed(folder, url) as home:
            if digests(home.vault(OWNER), folder) != before:
                wrong.append(f"step {step}: the vault is not what it was")
            if home.admin.keys.has_unfinished():
                wrong.append(f"step {step}: the change is neither finished nor undone")
            found = home.admin.keys.key(home.admin.entries()[0].id)
            changes += found != key
            key = found
    print(json.dumps({"kills": kills, "changes": changes, "steps": step, "wrong": wrong}))


def _dies(folder: Path, url: str, fatal: int) -> bool:
    """Change the key in a process that is killed at a step; False when it has fewer."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)
    with open_rekeyed(folder, url) as home:
        steps, admin = _Steps(fatal), home.admin
        PostgresTx.send = steps.counted(PostgresTx.send)
        postgres_database.commit = steps.counted(postgres_database.commit, twice=True)
        SqliteDatabase.write = steps.counted(SqliteDatabase.write, twice=True)
        rekey_vaults(admin)
    os._exit(0)


if __name__ == "__main__":
    main()
