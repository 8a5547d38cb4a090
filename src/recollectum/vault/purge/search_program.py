"""Searches every file under a folder for bytes: reads one JSON line, writes one JSON line.

It is a process of its own, because a process that opens a live database file itself drops SQLite's locks on it. What it
searches for comes on stdin, so that no list of processes shows it.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

_PIECE = 1 << 24


def search(root: Path, skipped: list[str], needles: list[bytes]) -> dict[str, object]:
    """How many files and bytes there are, and which needle is where."""
    files = size = 0
    hits: list[tuple[int, str]] = []
    for path in _files(root):
        name = path.relative_to(root).as_posix()
        if any(name.startswith(one) for one in skipped):
            continue
        found: set[int] = set()
        try:
            for piece, fresh in _pieces(path, max(map(len, needles), default=1) - 1):
                size += fresh
                if not piece.strip(b"\0"):
                    # The reserve of the home is nothing but that.
                    continue
                found.update(place for place, needle in enumerate(needles) if place not in found and needle in piece)
        except FileNotFoundError:
            # It went while the search was under way, as logs of databases do.
            continue
        files += 1
        hits += [(place, name) for place in sorted(found)]
    return {"files": files, "bytes": size, "hits": hits}


def _files(root: Path) -> Iterator[Path]:
    """Every file, each once, also behind links: who moves a folder to another disk leaves one in its place."""
    seen: set[tuple[int, int]] = set()
    for folder, inner, names in os.walk(root, followlinks=True):
        # A link to a folder above would lead around for ever.
        inner[:] = sorted(name for name in inner if _is_new(Path(folder, name), seen))
        yield from (Path(folder, name) for name in sorted(names) if _is_new(Path(folder, name), seen))


def _is_new(path: Path, seen: set[tuple[int, int]]) -> bool:
    try:
        found = path.stat()
    except OSError:
        # It went meanwhile, or the link leads nowhere.
        return False
    if not (stat.S_ISREG(found.st_mode) or stat.S_ISDIR(found.st_mode)):
        return False
    known = (found.st_dev, found.st_ino) in seen
    seen.add((found.st_dev, found.st_ino))
    return not known


def _pieces(path: Path, overlap: int) -> Iterator[tuple[bytes, int]]:
    with path.open("rb") as file:
        kept = b""
        while piece := file.read(_PIECE):
            yield kept + piece, len(piece)
            kept = (kept + piece)[-overlap:] if overlap else b""


def main() -> None:
    """Answer the one question on stdin."""
    asked = json.loads(sys.stdin.read())
    needles = [bytes.fromhex(one) for one in asked["needles"]]
    json.dump(search(Path(asked["root"]), asked["skipped"], needles), sys.stdout)


if __name__ == "__main__":
    main()
