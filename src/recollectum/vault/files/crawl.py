"""Walks a folder for notes under ignore rules, follows no links, and gives a reason for each file left out."""

import os
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import field
from datetime import datetime
from hashlib import blake2b
from pathlib import Path

from recollectum.domain.files.note import MAX_DEPTH
from recollectum.domain.records import dataclass
from recollectum.text.cleaning import clean
from recollectum.text.ignore import IgnoreRules
from recollectum.vault.files.text_files import (
    SUFFIXES,
    UnreadableFile,
    decode,
    modification_time,
    read_bytes,
    too_large_reason,
)

RULE_FILES = (".gitignore", ".recollectumignore")
_MAX_RULES = 1 << 20
#: How many kinds of files that are not read are named.
_MOST_KINDS = 5


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file with the name of a note, and its state when it was found."""

    path: str
    modified_at: datetime
    size: int


@dataclass(frozen=True, slots=True)
class Crawl:
    """The result of one walk."""

    files: tuple[FoundFile, ...] = ()
    #: Paths that were left out, each with the reason.
    skipped: tuple[tuple[str, str], ...] = ()
    #: Folders that could not be listed and files that could not be read; their known notes stay.
    closed: tuple[str, ...] = ()
    #: Whether it came from the cache, so that newer files may be missing.
    is_remembered: bool = False

    def may_hold(self, root: Path, path: str) -> bool:
        """Return whether a file that was not found may still exist: it was unreadable, or newer than the crawl."""
        if self.is_remembered and os.path.lexists(root / path):
            return True
        return any(not one or path == one or path.startswith(f"{one}/") for one in self.closed)


@dataclass(slots=True)
class _Walk:
    root: Path
    most: int
    depth: int
    deadline: float | None
    files: list[FoundFile] = field(default_factory=list[FoundFile])
    skipped: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    closed: list[str] = field(default_factory=list[str])
    #: How many files there are of each kind that is not read, by the end of their names.
    others: Counter[str] = field(default_factory=Counter[str])

    def run(self) -> Crawl | None:
        """Walk every folder once; None when the deadline has passed."""
        waiting: list[tuple[str, int, IgnoreRules]] = [("", 0, IgnoreRules())]
        while waiting:
            if self.deadline is not None and time.monotonic() > self.deadline:
                return None
            folder, depth, above = waiting.pop()
            try:
                rules = above.combine(*_load_ignore_rules(self.root, folder))
                with os.scandir(self.root / folder) as entries:
                    listed = sorted(entries, key=lambda entry: entry.name)
            except (OSError, UnreadableFile) as error:
                self._close(folder, error)
                continue
            waiting += [(path, depth + 1, rules) for path in self._take(folder, listed, rules, depth)]
        skipped = [*self.skipped, *_unread_kinds(self.others)]
        return Crawl(tuple(self.files), tuple(sorted(skipped)), tuple(self.closed))

    def _take(self, folder: str, listed: list[os.DirEntry[str]], rules: IgnoreRules, depth: int) -> Iterator[str]:
        """Add the files of a folder; return its subfolders to walk."""
        for entry in listed:
            path = f"{folder}/{entry.name}" if folder else entry.name
            is_note = entry.name.casefold().endswith(SUFFIXES)
            try:
                is_dir = entry.is_dir(follow_symlinks=False)
                if _is_hidden(entry.name) or rules.matches(path, is_dir=is_dir):
                    continue
                if entry.is_symlink():
                    self._link(path, entry, is_note=is_note)
                elif is_dir and depth >= self.depth:
                    self.skipped.append((clean(path), f"lies more than {self.depth} folders deep"))
                elif is_dir:
                    yield path
                elif is_note:
                    self._file(path, entry)
                else:
                    self.others[Path(entry.name).suffix.casefold()] += 1
            except OSError as error:
                self._close(path, error)

    def _file(self, path: str, entry: os.DirEntry[str]) -> None:
        if clean(path) != path:
            self.skipped.append((clean(path), "has a name that is not UTF-8"))
        elif not entry.is_file(follow_symlinks=False):
            self.skipped.append((path, "is not a regular file"))
        else:
            state = entry.stat(follow_symlinks=False)
            if state.st_size > self.most:
                self.skipped.append((path, too_large_reason(state.st_size, self.most)))
            else:
                self.files.append(FoundFile(path, modification_time(state), state.st_size))

    def _link(self, path: str, entry: os.DirEntry[str], *, is_note: bool) -> None:
        """Skip a link, and record a broken one or one out of the folder: targets inside are read in their own place."""
        try:
            target = Path(entry.path).resolve(strict=True)
        except (OSError, RuntimeError):
            self.skipped.append((clean(path), "is a link that leads nowhere or in a circle"))
            return
        if not target.is_relative_to(self.root) and (is_note or target.is_dir()):
            self.skipped.append((clean(path), "is a link out of the folder"))

    def _close(self, path: str, error: OSError | UnreadableFile) -> None:
        self.closed.append(path)
        self.skipped.append((clean(path) or ".", unreadable_reason(error)))


def _unread_kinds(others: Counter[str]) -> Iterator[tuple[str, str]]:
    """Yield one sentence about all files of other kinds, the most frequent kinds first."""
    if not others:
        return
    named = [clean(suffix) or "no suffix" for suffix, _ in others.most_common(_MOST_KINDS)]
    more = ", …" if len(others) > _MOST_KINDS else ""
    files = "1 file of a kind that is" if others.total() == 1 else f"{others.total():,} files of kinds that are"
    read = f"{', '.join(SUFFIXES[:-1])} and {SUFFIXES[-1]}"
    yield ".", f"holds {files} not read ({', '.join(named)}{more}); notes are {read} files"


def unreadable_reason(error: OSError | UnreadableFile) -> str:
    """Return why a file could not be read, without the path that the system's message contains."""
    if isinstance(error, UnreadableFile):
        return str(error)
    return f"cannot be read: {(error.strerror or type(error).__name__).lower()}"


def crawl(root: Path, *, most: int, depth: int = MAX_DEPTH, deadline: float | None = None) -> Crawl | None:
    """Return the notes below a folder, sorted; None when the deadline came first."""
    return _Walk(root, most, depth, deadline).run()


def _is_hidden(name: str) -> bool:
    return name.startswith(".")


def _load_ignore_rules(root: Path, folder: str) -> Iterator[IgnoreRules]:
    for name in RULE_FILES:
        try:
            yield IgnoreRules.parse(decode(_read_rule_file(root / folder / name)), folder=folder)
        except (OSError, UnreadableFile):
            # Skip the whole folder rather than read files that somebody wanted to exclude.
            raise UnreadableFile(f"is left out, because its {name} cannot be read") from None


def _read_rule_file(path: Path) -> bytes:
    try:
        return b"" if path.is_dir() else read_bytes(path, _MAX_RULES)[0]
    except (FileNotFoundError, NotADirectoryError):
        return b""


def crawl_key(root: Path, most: int, depth: int) -> bytes:
    """Return a cache key, equal for two crawls of one folder with the same rules and depth."""
    rules = b"\0".join(blake2b(_read_rule_file(root / name)).digest() for name in RULE_FILES)
    return blake2b(b"\0".join((os.fsencode(root), str((most, depth)).encode(), rules))).digest()
