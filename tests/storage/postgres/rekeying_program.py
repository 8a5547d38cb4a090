"""A program that gives a vault new keys and is killed each time, some steps later.

`FOLDER URL keys|purge EVERY [KEYS_URL]`. A step is a statement of the rewriting, a COMMIT or its answer, or a change of
keys.db. After each kill the home is opened as any command would, and looked at. With a keys database another host does
so first, while the one that was killed still has the lease of the change, and each of the last steps of a change of
keys is tried. Prints how many kills there were, after how many of them the vault had a new key, and what was wrong.
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
    folder, url, what, every, *keys = sys.argv[1:]
    kind = _Rekeyed if what == "keys" else _Purged
    attempt = kind(Path(folder), url, *keys)
    with attempt.open() as home:
        attempt.fill(home.vault(OWNER))
    kills = changes = step = 0
    wrong: list[str] = []
    attempt.prepare()
    stride = int(every)
    while True:
        if not _dies(attempt, step := step + stride):
            if stride == 1 or not keys or what == "purge":
                break
            attempt.prepare()
            step, stride = step - stride, 1
            continue
        kills += 1
        wrong += [f"step {step}, on another host: {one}" for one in attempt.faults_elsewhere()]
        with attempt.open() as home:
            wrong += [f"step {step}: {one}" for one in attempt.faults(home)]
            if home.admin.keys.has_unfinished():
                wrong.append(f"step {step}: the change is neither finished nor undone")
            changes += _key(home) != attempt.key
        attempt.prepare()
    print(json.dumps({"kills": kills, "changes": changes, "steps": step, "wrong": wrong}))


class _Rekeyed:
    """Gives the vault a new key."""

    def __init__(self, folder: Path, url: str, keys_url: str = "") -> None:
        self.folder, self.url, self._keys_url = folder, url, keys_url
        self.key = b""
        self._before: object = None

    def open(self, host: str = "one") -> Recollectum:
        """Open the home of a host; there is one unless they share keys."""
        place = self.folder / host if self._keys_url else self.folder
        place.mkdir(exist_ok=True)
        return open_rekeyed(place, self.url, keys_url=self._keys_url)

    def faults_elsewhere(self) -> list[str]:
        """What another host finds wrong, while the one that was killed still seems to be at work."""
        if not self._keys_url:
            return []
        with self.open("two") as home:
            return self.look_elsewhere(home)

    def look_elsewhere(self, home: Recollectum) -> list[str]:
        return _Rekeyed.faults(self, home)

    def fill(self, vault: Vault) -> None:
        fill_every_column(vault, self.folder / "notes")

    def prepare(self) -> None:
        with self.open() as home:
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
        with self.open() as home:
            self.key = _key(home)
            self._gone = home.vault(OWNER).memories.save(f"to be erased {os.urandom(8).hex()}").memory.id
            self._known = len(home.receipts.list())

    def look_elsewhere(self, home: Recollectum) -> list[str]:
        kept = home.vault(OWNER).memories.save(f"written elsewhere {os.urandom(8).hex()}").memory
        return [] if kept in home.vault(OWNER).memories.list(limit=1000) else ["what was written is not there"]

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


def _dies(attempt: _Rekeyed, fatal: int) -> bool:
    """Do it in a process that is killed at a step; False when it has fewer."""
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)
    with attempt.open() as home:
        steps = _Steps(fatal)
        home.vault(OWNER).memories.list()
        PostgresTx.send = steps.counted(PostgresTx.send)
        postgres_database.commit = steps.counted(postgres_database.commit, twice=True)
        SqliteDatabase.write = steps.counted(SqliteDatabase.write, twice=True)
        attempt.run(home)
        os._exit(0)


if __name__ == "__main__":
    main()
