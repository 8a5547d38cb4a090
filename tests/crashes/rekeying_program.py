"""A program that changes keys again and again and is killed each time, one step later: `FOLDER vaults|master EVERY`.

Every attempt begins with the same home: two vaults, a copy of one from before a migration, two backups and a recovery
code. After each kill the home is opened as any command would, and looked at.
"""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from recollectum import Recollectum
from recollectum.home.paths import Home
from recollectum.storage.page_recoding import is_opened_by
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_home
from recollectum.upkeep.rekey.master_key import rekey_master
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home
from tests.upkeep.homes import ANN, BEN, filled, opening, said

#: The calls that change a file, or may.
_STEPS = {"replace", "rename", "unlink", "fsync", "write", "open", "execute", "executemany", "pragma", "step", "close"}
#: Every so many kills the backups are restored too, which takes longer than the rest.
_RESTORED = 4
_Said = dict[str, tuple[list[str], int, list[object]]]


class _Counter:
    """Counts the calls that may change a file; before the fatal one it kills the process."""

    def __init__(self, fatal: int) -> None:
        self.calls = 0
        self._fatal = fatal

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401  (its form is given)
        if event == "c_call" and arg.__name__ in _STEPS:
            self.calls += 1
            if self.calls == self._fatal:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """Print as JSON how many kills there were, how the changes ended, and what was wrong."""
    folder, what, every = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    before = _make(folder / "now")
    (folder / "now").rename(folder / "template")
    kills, ends, wrong = 0, set[str](), list[str]()
    step = 0
    while _dies(folder, what, step := step + every):
        kills += 1
        try:
            ends.add(_look(folder / "now", before, what, restores=kills % _RESTORED == 0))
        except Exception as error:  # noqa: BLE001  (each is a finding)
            wrong.append(f"step {step}: {type(error).__name__} {error}")
    ends.add(_look(folder / "now", before, what, restores=True))
    print(json.dumps({"kills": kills, "ends": sorted(ends), "wrong": wrong}))


def _make(place: Path) -> _Said:
    with filled(place) as home:
        path = file_of(home, ANN)
        home.encryption().new_recovery_code()
        back_up(home.admin)
        back_up(home.admin, to=home.home.backups / "packed.tar")
        before = {owner: said(home.vault(owner)) for owner in (ANN, BEN)}
    shutil.copyfile(path, place / "home" / "backups" / f"{path.stem}-1-first-20260301T120000.db")
    return before


def _dies(folder: Path, what: str, fatal: int) -> bool:
    """Change keys in a process that is killed at a step; False when it has fewer."""
    shutil.rmtree(folder / "now", ignore_errors=True)
    shutil.copytree(folder / "template", folder / "now")
    child = os.fork()
    if child:
        _, status = os.waitpid(child, 0)
        return os.WIFSIGNALED(status)
    with open_home(folder / "now", Turning(), encryption="auto") as home:
        admin = home.admin
        sys.setprofile(_Counter(fatal))
        if what == "vaults":
            rekey_vaults(admin)
        else:
            rekey_master(admin)
        sys.setprofile(None)
    os._exit(0)


def _look(place: Path, before: _Said, what: str, *, restores: bool) -> str:
    """Open the home, and return whether the keys are the old ones or new ones; raise for what is wrong."""
    with open_home(place, Turning(), encryption="auto") as home:
        assert {owner: said(home.vault(owner)) for owner in (ANN, BEN)} == before, "the vaults are not what they were"
        home.vault(ANN).memories.save("written after the kill")
        keys = home.encryption()
        assert not keys.has_unfinished(), "the change is neither finished nor undone"
        path = file_of(home, ANN)
        key = keys.key(path.stem)
        end = _end(home, place, path, what)
    (copy,) = (place / "home" / "backups").glob(f"{path.stem}-*")
    assert is_opened_by(copy, key), "the copy from before a migration does not open"
    left = [one.name for one in place.rglob("*unfinished*")]
    assert not left, f"left: {left}"
    (held,) = (place / "config").rglob("*.key")
    assert held.read_text().count("\n") == 1, "the holder has two keys"
    for backup in sorted((place / "home" / "backups").glob("[rp]*")) if restores else ():
        shutil.rmtree(place / "again", ignore_errors=True)
        restore_home(Home(place / "again" / "home"), backup, opening(place))
        with Recollectum(
            place / "again" / "home", settings={"embedding.provider": "none"}, environ=_environ(place)
        ) as again:
            assert said(again.vault(BEN)) == before[BEN], f"{backup.name} is not restored as it was"
    return end


def _end(home: Recollectum, place: Path, path: Path, what: str) -> str:
    template = place.parent / "template"
    if what == "vaults":
        is_old = is_opened_by(template / path.relative_to(place), home.encryption().key(path.stem))
        return "old" if is_old else "new"
    held, original = (next((one / "config").rglob("*.key")).read_bytes() for one in (place, template))
    # A code that nobody was shown does not count as one.
    has_code = home.encryption().holder().recovery_code_made_at is not None
    return "old" if held == original and has_code else f"new, with{'' if has_code else 'out'} a code"


def _environ(place: Path) -> dict[str, str]:
    return {"HOME": str(place / "user"), "XDG_CONFIG_HOME": str(place / "config")}


if __name__ == "__main__":
    main()
