"""Workspaces for the tests of tasks."""

import os
import random
from pathlib import Path


def fill(folder: Path, *, size: int = 200_000, seed: int = 1) -> Path:
    """Make a workspace with text, binary data, an empty folder, a program and links."""
    chance = random.Random(seed)
    (folder / "src" / "deep").mkdir(parents=True)
    (folder / "empty").mkdir()
    (folder / "src" / "main.py").write_text("print('hello')\n" * 50)
    (folder / "src" / "deep" / "data.bin").write_bytes(chance.randbytes(size))
    (folder / "nothing").write_bytes(b"")
    (folder / "run.sh").write_text("#!/bin/sh\n")
    (folder / "run.sh").chmod(0o755)
    (folder / "src" / "link").symlink_to("../run.sh")
    (folder / "naïve ☃.txt").write_text("unicode")
    return folder


def contents(folder: Path) -> dict[str, tuple[str, int, bytes]]:
    """Return every path of a workspace with its kind, mode and content."""
    found: dict[str, tuple[str, int, bytes]] = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if path.is_symlink():
            found[name] = ("link", 0, os.fsencode(path.readlink()))
        elif path.is_dir():
            found[name] = ("folder", path.stat().st_mode & 0o777, b"")
        else:
            found[name] = ("file", path.stat().st_mode & 0o777, path.read_bytes())
    return found
