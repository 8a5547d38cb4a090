"""A program that fills the disk its home is on, and then deletes: `forget`, `sweep` or `delete_session`.

With `late` in front, the home is opened again only when the disk is full. `narrow` fills it again and again. `purge`
erases memories, a session or a person as the first action on a full disk.
"""

import json
import os
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.storage.sqlite.database import SqliteOptions
from recollectum.upkeep.backup.backup import back_up
from recollectum.vault.intake.draft import Draft
from recollectum.vault.purge.request import PurgeRequest
from recollectum.vault.vault import Vault
from tests.crashes.consistency import disagreements
from tests.crashes.ledger import look, lost, unexplained
from tests.crashes.scribe import Scribe
from tests.crashes.standing import standing
from tests.faults.sentences import CANARY, assert_sentence

_MEMORIES = 1500
_START = datetime(2026, 6, 1, tzinfo=UTC)


class _Clock:
    def __init__(self) -> None:
        self.now = _START

    def __call__(self) -> datetime:
        return self.now


def main(task: str) -> None:
    """Print as JSON what happened."""
    folder, clock = Path(sys.argv[1]), _Clock()
    if task == "narrow":
        print(json.dumps(_narrow(folder)))
        return
    if task.startswith("purge "):
        _, encryption, moment, what = task.split()
        print(json.dumps(_purge(folder, encryption, what, late=moment == "late")))
        return
    late, _, task = task.rpartition(" ")
    r = Recollectum(folder / "home", clock=clock)
    vault = r.vault("user:ann")
    ids = [memory.id for memory in [one.memory for one in vault.memories.save_many(_drafts(0))]]
    chat = vault.sessions.open(channel="test", agent="main")
    for number in range(200):
        chat.add("user", f"message {number} about {CANARY}")
    if task == "sweep":
        for memory in ids:
            vault.memories.forget(memory)
    if late:
        r.close()
    _fill(folder / "filler")
    told: dict[str, object] = {}
    if late:
        r = Recollectum(folder / "home", clock=clock)
        vault = r.vault("user:ann")
    else:
        told = _refusal(vault, folder)
    clock.now += timedelta(days=8)
    told["deleted"] = _delete(vault, task, ids, chat.id)
    told["sound"] = vault.admin.index.verify().sound
    told["kept"] = task == "sweep" or len(vault.memories.list(limit=1000)) == 1000
    r.close()
    print(json.dumps(told))


def _purge(folder: Path, encryption: str, what: str, *, late: bool) -> dict[str, object]:
    """Erase with no byte left, in a home with a backup: the state of the receipt, and what is left."""
    home = folder / "home"
    r = Recollectum(home, settings={"encryption": encryption})
    vault = r.vault("user:ann")
    ids = [one.memory.id for one in vault.memories.save_many(_drafts(0)[:300])]
    ids.append(vault.learnings.save(f"a learning about {CANARY}", "pattern").id)
    r.vault("user:ben").memories.save("this stays")
    chat = vault.sessions.open(channel="test", agent="main")
    for number in range(100):
        chat.add("user", f"message {number} about {CANARY}")
    back_up(r.admin)
    if late:
        r.close()
    _fill(folder / "filler")
    free = os.statvfs(folder).f_bavail
    if late:
        r = Recollectum(home, settings={"encryption": encryption})
        vault = r.vault("user:ann")
    request = {
        "memories": PurgeRequest.memories(*ids),
        "session": PurgeRequest.sessions(chat.id),
        "user": PurgeRequest.user(),
    }[what]
    receipt = vault.privacy.purge.run(vault.privacy.purge.preview(request).token)
    left = [memory.content for memory in r.vault("user:ben").memories.list(limit=10)]
    r.close()
    return {"free": free, "state": receipt.state.value, "left": left}


def _narrow(folder: Path) -> dict[str, list[str]]:
    """Write until there is no room, give a little of it back, and so on."""
    chance = random.Random(5)
    filler = folder / "filler"
    refusals: set[str] = set()
    gone: list[str] = []
    strange: list[str] = []
    with standing(folder / "vault.db", SqliteOptions(key=bytes(32))) as at:
        at.database.on_connection(lambda connection: connection.pragma("wal_autocheckpoint", 20))
        scribe = Scribe(at.vault, "ann", chance, drops=False)
        for _ in range(12):
            _fill(filler)
            os.truncate(filler, filler.stat().st_size - chance.randrange(20, 80) * 4096)
            try:
                while True:
                    scribe.step()
            except RecollectumError as error:
                refusals.add(type(error).__name__)
                # It failed, so nothing of it may be there.
                scribe.ledger.begun = None
            seen = at.database.read(look)
            gone, strange = lost(scribe.ledger, seen), unexplained([scribe.ledger], seen)
            if gone or strange:
                break
        os.truncate(filler, 0)
        return {
            "refusals": sorted(refusals),
            "lost": gone,
            "unexplained": strange,
            "disagreements": disagreements(at.database),
        }


def _drafts(first: int) -> list[Draft]:
    return [Draft(content=f"memory {number} about {CANARY}") for number in range(first, first + _MEMORIES)]


def _fill(path: Path) -> None:
    """Take every byte that is left."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    size = 1 << 20
    while size:
        try:
            os.write(file, bytes(size))
        except OSError:
            size //= 2
    os.close(file)


def _refusal(vault: Vault, folder: Path) -> dict[str, object]:
    """How a write is refused when there is no room."""
    first = _MEMORIES
    while True:
        try:
            vault.memories.save_many(_drafts(first))
        except RecollectumError as error:
            (path,) = (folder / "home" / "vaults").glob("*.db")
            try:
                assert_sentence(error, path)
            except AssertionError as wrong:
                return {"refused": type(error).__name__, "sentence": str(wrong)}
            return {"refused": type(error).__name__, "sentence": ""}
        first += _MEMORIES


def _delete(vault: Vault, task: str, ids: list[str], session: str) -> bool:
    if task == "forget":
        return all(vault.memories.forget(memory).state == "soft_deleted" for memory in ids[:100])
    if task == "delete_session":
        return vault.sessions.delete(session)
    report = vault.admin.lifecycle.run()
    return report.purged == len(ids) and report.erased
