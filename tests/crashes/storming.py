"""Backups that are taken while several programs write, each restored, read to the last page and compared."""

import os
import shutil
import subprocess
import threading
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.home.paths import Home
from recollectum.settings.model import Settings
from recollectum.storage.port import Tx
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import BackupAccess, restore_home
from tests.crashes.consistency import disagreements
from tests.crashes.homes import only_vault
from tests.crashes.programs import kill, start

_PROGRAM = "tests.crashes.storming_program"
WRITERS = ("east", "west")


@dataclass(slots=True)
class Storm:
    """What came of the backups."""

    backups: int = 0
    #: Rows that were acknowledged before a backup began, over all backups.
    acknowledged: int = 0
    #: Rows that were written while a backup was made, over all backups.
    meanwhile: int = 0
    wrong: list[str] = field(default_factory=list[str])
    seconds: list[float] = field(default_factory=list[float])

    def line(self) -> str:
        """The result in one line."""
        middle = sorted(self.seconds)[len(self.seconds) // 2]
        return (
            f"backups {self.backups}, restored and right {self.backups - len(self.wrong)}, acknowledged before "
            f"{self.acknowledged}, written meanwhile {self.meanwhile}, median {middle * 1000:.0f} ms a backup"
        )


class _Writer:
    """A program that writes, and the numbers it was told so far."""

    def __init__(self, home: Path, name: str) -> None:
        self.name = name
        self.process: subprocess.Popen[str] = start(_PROGRAM, str(home), name)
        self.told = 0
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self.told = int(line) + 1

    def end(self) -> None:
        self.process.kill()
        self._reading.join()
        kill(self.process)


def storm(folder: Path, *, backups: int, per_home: int = 10) -> Storm:
    """Take backups under a storm of writes; after some a new vault is begun, so that reading all of it stays quick."""
    result = Storm()
    while result.backups < backups:
        home = folder / f"home-{result.backups}"
        with Recollectum(home) as r:
            r.vault("user:ann")
            with _writing(home) as writers:
                for _ in range(min(per_home, backups - result.backups)):
                    _one(r, writers, folder / "restored", result)
        shutil.rmtree(home)
    return result


@contextmanager
def _writing(home: Path) -> Generator[list[_Writer]]:
    writers = [_Writer(home, name) for name in WRITERS]
    try:
        limit = time.monotonic() + 60
        while not all(writer.told for writer in writers) and time.monotonic() < limit:
            time.sleep(0.01)
        yield writers
    finally:
        for writer in writers:
            writer.end()


def _one(r: Recollectum, writers: list[_Writer], place: Path, result: Storm) -> None:
    before = {writer.name: writer.told for writer in writers}
    began = time.monotonic()
    made = back_up(r.admin)
    result.seconds.append(time.monotonic() - began)
    result.meanwhile += sum(writer.told for writer in writers) - sum(before.values())
    result.backups += 1
    result.acknowledged += sum(before.values())
    opening = BackupAccess(settings=Settings(), environ=os.environ, clock=system_clock, unauthenticated=True)
    restore_home(Home(place), made.path, opening)
    try:
        wrong = _wrong(place, before)
    finally:
        shutil.rmtree(place)
        shutil.rmtree(made.path)
    if wrong:
        result.wrong.append(f"backup {result.backups}: {wrong[0]}")


def _wrong(home: Path, before: dict[str, int]) -> list[str]:
    """What is not as it was at one moment: half a change, a hole, or a row that was acknowledged and is not there."""
    with only_vault(home) as database:
        found = disagreements(database)
        memories, messages = database.read(_texts)
    for name, acknowledged in before.items():
        for texts, verb in ((memories, "keeps"), (messages, "says")):
            numbers = sorted(int(text.rpartition(" ")[2]) for text in texts if text.startswith(f"{name} {verb} "))
            if numbers != list(range(len(numbers))):
                found.append(f"what {name} {verb} has holes")
            if len(numbers) < acknowledged:
                found.append(f"{name} {verb} {len(numbers)} of {acknowledged} that were acknowledged")
    return found


def _texts(tx: Tx) -> tuple[list[str], list[str]]:
    memories = [row[0] for row in tx.rows("SELECT content FROM memories", {})]
    return memories, [row[0] for row in tx.rows("SELECT text FROM messages", {})]
