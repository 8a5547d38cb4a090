"""Fingerprints policy files by modification time, size and inode to detect changes without reading them."""

import os
from collections.abc import Iterable
from pathlib import Path

#: Each file with what changes when it is written: time, size and inode.
Fingerprints = tuple[tuple[str, int, int, int], ...]
#: Marks an unreadable folder, so that it is not taken for an empty one.
_CLOSED = (-1, -1, -1)


def fingerprint_files(folders: Iterable[Path]) -> Fingerprints:
    """Return the fingerprint of every policy file in the folders; empty when there is none."""
    return tuple(mark for folder in folders for mark in _fingerprint_folder(folder))


def _fingerprint_folder(folder: Path) -> list[tuple[str, int, int, int]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(
                _fingerprint_entry(one)
                for one in entries
                if one.name.endswith(".toml") and not one.name.startswith(".")
            )
    except (FileNotFoundError, NotADirectoryError):
        return []
    except OSError:
        return [(str(folder), *_CLOSED)]


def _fingerprint_entry(entry: "os.DirEntry[str]") -> tuple[str, int, int, int]:
    try:
        found = entry.stat()
    except OSError:
        # A broken link is a policy that cannot be read, and is reported when it is loaded.
        return (entry.path, *_CLOSED)
    return entry.path, found.st_mtime_ns, found.st_size, found.st_ino
