"""Measures closed places: a path that may not be written is refused in a sentence, and no other is created instead."""

import json
import os
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.bar_row import Measured, own_place
from recollectum import Recollectum
from tests.crashes.programs import run
from tests.faults.sentences import CURE

_NOBODY = 65534
_IMMUTABLE = "+i"


@dataclass(frozen=True, slots=True)
class _Closed:
    """A path that is closed to writers, by its mode or an attribute, and what the refusal must name."""

    place: str
    mode: int | None
    named: str


_CLOSED = (
    _Closed("home", 0o500, "home"),
    _Closed("vault", 0o400, "home/vaults"),
    _Closed("home/vaults", 0o500, "home/vaults"),
    _Closed("home/locks", 0o500, "home/locks"),
)
_FIXED = (
    _Closed("vault", None, "home/vaults"),
    _Closed("home", None, "home"),
    _Closed("home/vaults", None, "home/vaults"),
)


def closed_places(*, long: bool, mode: int | None = None) -> Measured:
    """Try folders and a vault that may not be written, with an unprivileged account, in Python and by commands."""
    cases = [*_CLOSED[: None if long else 2], *(_FIXED[: None if long else 1] if _can_fix() else ())]
    wrong: list[str] = []
    for closed in cases:
        with own_place() as folder:
            if not _is_refused(folder, closed, closed.mode if mode is None else mode):
                wrong.append(f"{closed.place} {_IMMUTABLE if closed.mode is None else oct(closed.mode)}")
    fixed = "" if _can_fix() else "; chattr +i is not allowed here"
    said = f"{len(wrong)} of {len(cases)} not refused in a sentence with a cure, or replaced{fixed}"
    return Measured(said + "".join(f" ({one})" for one in wrong[:1]), not wrong)


def _can_fix() -> bool:
    """Return whether a file can be made immutable: by root, if the file system supports it."""
    with own_place() as folder:
        path = folder / "file"
        path.touch()
        fixed = _change(path, _IMMUTABLE)
        return fixed and _change(path, "-i")


def _change(path: Path, attribute: str) -> bool:
    try:
        return subprocess.run(["chattr", attribute, str(path)], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


@contextmanager
def _shut(target: Path, mode: int | None) -> Generator[None]:
    usual = target.stat().st_mode & 0o777
    if mode is None:
        _change(target, _IMMUTABLE)
    else:
        target.chmod(mode)
    try:
        yield
    finally:
        if mode is None:
            _change(target, "-i")
        else:
            target.chmod(usual)


def _is_refused(folder: Path, closed: _Closed, mode: int | None) -> bool:
    with Recollectum(folder / "home") as home:
        home.vault("user:ann").memories.save("something to keep")
    (vault,) = (folder / "home" / "vaults").glob("*.db")
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
    before = _contents(folder)
    with _shut(vault if closed.place == "vault" else folder / closed.place, mode):
        (line,) = run("tests.faults.unprivileged_program", str(folder / "home"), str(_NOBODY), "command")
    told: dict[str, str] = json.loads(line)
    place = str(folder / closed.named)
    code, _, said = told["command"].partition(" ")
    sentences = (told["open"] or told["save"], said.strip())
    refused = all(place in one and "\n" not in one and CURE.search(one) for one in sentences)
    return refused and code != "0" and _contents(folder) == before


def _contents(folder: Path) -> dict[str, bytes]:
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
    return {str(path): path.read_bytes() for path in files if path.stat().st_size}
