"""A program whose disk is full while it makes a backup or restores one, at several points, and then has room again."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.domain.ids import system_clock
from recollectum.settings.model import Settings
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import BackupAccess, restore_vaults
from tests.upkeep.homes import fill, said

#: Pages of room that are left; the whole of it needs more.
_ROOMS = (0, 3, 40, 150)


def main(where: str) -> None:
    """Print as JSON what happened."""
    folder = Path(sys.argv[1])
    with Recollectum(folder / "home", settings={"storage.reserve_mib": 1}) as r:
        vault = r.vault("user:ann")
        fill(vault, 800)
        before = said(vault)
        work, place = _task(r, folder, where)
        refused = {_refused(work, folder / "filler", pages) for pages in _ROOMS}
        left = sorted(path.name for path in place.iterdir())
        same = said(vault) == before and vault.admin.index.verify().sound
        work()
        print(json.dumps({"refused": sorted(refused), "left": left, "same": same, "then": said(vault) == before}))


def _task(r: Recollectum, folder: Path, where: str) -> tuple[Callable[[], object], Path]:
    """What is tried, and the folder in which it must leave nothing when it fails."""
    stick = folder / "stick"
    stick.mkdir()
    if where == "restore":
        made = back_up(r.admin, to=folder / "made").path
        opening = BackupAccess(settings=Settings(), environ=os.environ, clock=system_clock)
        return lambda: restore_vaults(r.admin, made, opening, replace=True), r.home.backups
    target = stick if where == "folder" else stick / "mine.tar"
    return lambda: back_up(r.admin, to=target), stick


def _refused(work: Callable[[], object], filler: Path, pages: int) -> str:
    take_all(filler)
    os.truncate(filler, filler.stat().st_size - pages * 4096)
    try:
        work()
    except RecollectumError as error:
        return type(error).__name__
    finally:
        os.truncate(filler, 0)
    return f"nothing, with {pages} pages of {shutil.disk_usage(filler.parent).total // 4096}"


def take_all(path: Path) -> None:
    """Fill the disk to the last byte."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT)
    size = 1 << 20
    while size:
        try:
            os.write(file, bytes(size))
        except OSError:
            size //= 2
    os.close(file)
