"""A program whose disk is full before, while and after a vault is rewritten under a new key, and then has room."""

import json
import os
import shutil
import sys
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from recollectum.vault.intake.draft import Draft
from tests.crashes.homes import file_of
from tests.faults.backing_up_on_full_disk import take_all
from tests.upkeep.homes import fill, said


def main() -> None:
    """Print as JSON what happened at each of the three."""
    folder = Path(sys.argv[1])
    filler = folder / "filler"
    with Recollectum(folder / "home", settings={"storage.reserve_mib": 1}) as r:
        fill(r.vault("user:ann"), 40)
        # So large that progress is reported in the middle of it.
        r.vault("user:ann").memories.save_many([Draft(content=f"{number} " + "word " * 700) for number in range(800)])
        path, before = file_of(r, "user:ann"), said(r.vault("user:ann"))
        key = r.encryption().key(path.stem)
    shutil.copyfile(path, folder / "home" / "backups" / f"{path.stem}-0001-first-20260301T120000.db")
    for when in ("before", "during", "after"):
        with Recollectum(folder / "home", settings={"storage.reserve_mib": 1}) as r:
            told = _refused(r, filler, path, when)
            found = r.encryption()
            state = {
                "same": said(r.vault("user:ann")) == before,
                "unfinished": found.has_unfinished(),
                "left": sorted(one.name for one in r.home.vaults.iterdir() if "unfinished" in one.name),
            }
        os.truncate(filler, 0)
        with Recollectum(folder / "home") as r:
            then = said(r.vault("user:ann")) == before and not r.encryption().has_unfinished()
            is_new = r.encryption().key(path.stem) != key
        print(json.dumps({"refused": told, **state, "then": then, "new": is_new}))


def _refused(r: Recollectum, filler: Path, vault: Path, when: str) -> str:
    """Change the key on a disk that is full before it, or while the vault is copied, or its old copy after it."""
    if when == "before":
        take_all(filler)
    file = vault.stat().st_ino

    def progress(_: int) -> None:
        # The first report is of the copy that is being made; afterwards it has the place of the vault.
        if not filler.stat().st_size and when == ("during" if vault.stat().st_ino == file else "after"):
            take_all(filler)

    filler.touch()
    try:
        rekey_vaults(r.admin, progress=progress)
    except RecollectumError as error:
        return type(error).__name__
    return "nothing"


if __name__ == "__main__":
    main()
