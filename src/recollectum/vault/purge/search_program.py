"""Searches every file under a folder for bytes: reads one JSON line, writes one JSON line.

It is a separate process, because a process that opens a live database file itself drops SQLite's locks on it. The
samples come on stdin, so that no process list shows them.
"""

import json
import os
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

_PIECE = 1 << 24


def search(root: Path, skipped: list[str], needles: list[bytes]) -> dict[str, object]:
    """Return the number of files and bytes, and which sample is in which file."""
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
                    # The reserve of the home holds no data.
                    continue
                found.update(place for place, needle in enumerate(needles) if place not in found and needle in piece)
        except FileNotFoundError:
            # The file was deleted during the search, as database logs are.
            continue
        files += 1
        hits += [(place, name) for place in sorted(found)]
    return {"files": files, "bytes": size, "hits": hits}


def _files(root: Path) -> Iterator[Path]:
    """Yield every file once, also behind links: a folder moved to another disk leaves a link."""
    seen: set[tuple[int, int]] = set()
    for folder, inner, names in os.walk(root, followlinks=True):
        # A link to a parent folder would lead into an endless loop.
        inner[:] = sorted(name for name in inner if _is_new(Path(folder, name), seen))
        yield from (Path(folder, name) for name in sorted(names) if _is_new(Path(folder, name), seen))


def _is_new(path: Path, seen: set[tuple[int, int]]) -> bool:
    try:
        found = path.stat()
    except OSError:
        # The file was deleted in the meantime, or the link is broken.
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
    """Answer the one request on stdin."""
    asked = json.loads(sys.stdin.read())
    needles = [bytes.fromhex(one) for one in asked["needles"]]
    json.dump(search(Path(asked["root"]), asked["skipped"], needles), sys.stdout)


if __name__ == "__main__":
    main()
