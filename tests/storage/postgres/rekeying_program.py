"""A program that gives a vault new keys and is killed each time, some steps later: `FOLDER URL keys|purge EVERY`.

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

from recollectum import Recollectum
from recollectum.storage.postgres import database as postgres_database
from recollectum.storage.postgres.transaction import PostgresTx
from recollectum.storage.sqlite.database import SqliteDatabase
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.storage.postgres.rekeyed_homes import OWNER, digests, fill_every_column, open_rekeyed
from tests.upkeep.homes import fill


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
    folder, url, what, every = Path(sys.argv[1]), sys.argv[2], sys.argv[3], int(sys.argv[4])
    attempt = _Rekeyed(folder, url) if what == "keys" else _Purged(folder, url)
    with open_rekeyed(folder, url) as home:
        attempt.fill(home.vault(OWNER))
    kills = changes = step = 0
    wrong: list[str] = []
    attempt.prepare()
    while _dies(attempt.run, folder, url, step := step + every):
        kills += 1
        with open_rekeyed(folder, url) as home:
            wrong += [f"step {step}: {one}" for one in attempt.faults(home)]
            if home.admin.keys.has_unfinished():
                wrong.append(f"step {step}: the change is neither finished nor undone")
            changes += _key(home) != attempt.key
        attempt.prepare()
    print(json.dumps({"kills": kills, "changes": changes, "steps": step, "wrong": wrong}))


class _Rekeyed:
    """Gives the vault a new key."""

    def __init__(self, folder: Path, url: str) -> None:
        self.folder, self.url = folder, url
        self.key = b""
        self._before: object = None

    def fill(self, vault: Vault) -> None:
        fill_every_column(vault, self.folder / "notes")

    def prepare(self) -> None:
        with open_rekeyed(self.folder, self.url) as home:
            self.key, self._before = _key(home), digests(home.vault(OWNER), self.folder)

    def run(self, home: Recollectum) -> None:
        rekey_vaults(home.admin)

    def faults(self, home: Recollectum) -> list[str]:
        same = digests(home.vault(OWNER), self.folder) == self._before
        return [] if same else ["the vault is not what it was"]


class _Purged(_Rekeyed):
    """Purges a memory, and gives the vault a new key."""

    def fill(self, vault: Vault) -> None:
        fill(vault, 8)

    def prepare(self) -> None:
        with open_rekeyed(self.folder, self.url) as home:
            self.key = _key(home)
            self._gone = home.vault(OWNER).memories.save(f"to be erased {os.urandom(8).hex()}").memory.id
            self._known = len(home.receipts.list())

    def run(self, home: Recollectum) -> None:
        purge = home.vault(OWNER).privacy.purge
        purge.run(purge.preview(PurgeRequest.memories(self._gone, shred=True)).token)

    def faults(self, home: Recollectum) -> list[str]:
        vault = home.vault(OWNER)
        vault.privacy.purge.finish()
        if self._gone in [one.id for one in vault.memories.list(limit=1000)]:
            # It was killed before the purge began.
            return [] if _key(home) == self.key else ["the vault has a new key without a purge"]
        made = home.receipts.list()[self._known :]
        is_told = [(one.state.value, one.shredded) for one in made] == [("done", True)]
        return [] if is_told and _key(home) != self.key else [f"purged, but not with a new key: {made}"]


def _key(home: Recollectum) -> bytes:
    return home.admin.keys.key(home.admin.entries()[0].id)


def _dies(run: Callable[[Recollectum], None], folder: Path, url: str, fatal: int) -> bool:
    """Do it in a process that is killed at a step; False when it has fewer."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)
    with open_rekeyed(folder, url) as home:
        steps = _Steps(fatal)
        home.vault(OWNER).memories.list()
        PostgresTx.send = steps.counted(PostgresTx.send)
        postgres_database.commit = steps.counted(postgres_database.commit, twice=True)
        SqliteDatabase.write = steps.counted(SqliteDatabase.write, twice=True)
        run(home)
        os._exit(0)


if __name__ == "__main__":
    main()
