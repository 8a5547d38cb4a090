"""Searches every file under a folder for samples: reads one JSON line, writes one JSON line.

It is a separate process, because a process that opens a live database file itself drops SQLite's locks on it. The
samples and keys come on stdin, so that no process list shows them.
"""

import json
import os
import stat
import sys
import time
from collections.abc import Collection, Iterator, Sequence
from dataclasses import field
from pathlib import Path
from typing import Any

from recollectum.domain.records import dataclass
from recollectum.storage.encrypted_pages import HEAD_BYTES, PageKeys, encrypted_page_size, may_be_changing
from recollectum.vault.purge.contents import FileFindings, FileReader, SearchKeys
from recollectum.vault.purge.matching import Matcher, Outline, OutlineKey

#: A page that another process is writing does not open; it is read again after so many seconds.
_WAITS = (0.05, 0.2, 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchQuestion:
    """What to search for, where, and with which keys."""

    root: Path
    #: The beginnings of names, from the root, that are other owners'.
    skipped: Sequence[str] = ()
    #: The file names of other owners' databases, wherever a copy of them lies.
    others: Collection[str] = ()
    needles: Sequence[bytes]
    outlines: Sequence[Outline] = ()
    outline_key: bytes = b""
    keys: Sequence[bytes] = ()
    #: The places of the keys whose data is another owner's.
    foreign: Collection[int] = ()

    def to_json(self) -> dict[str, object]:
        """Return the question in plain types."""
        return {
            "root": str(self.root),
            "skipped": list(self.skipped),
            "others": list(self.others),
            "needles": [one.hex() for one in self.needles],
            "outlines": [[one.bits, one.digest] for one in self.outlines],
            "outline_key": self.outline_key.hex(),
            "keys": [one.hex() for one in self.keys],
            "foreign": list(self.foreign),
        }

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "SearchQuestion":
        """Return the question that `to_json` wrote."""
        return cls(
            root=Path(given["root"]),
            skipped=given["skipped"],
            others=frozenset(given["others"]),
            needles=[bytes.fromhex(one) for one in given["needles"]],
            outlines=[Outline(bits=bits, digest=digest) for bits, digest in given["outlines"]],
            outline_key=bytes.fromhex(given["outline_key"]),
            keys=[bytes.fromhex(one) for one in given["keys"]],
            foreign=given["foreign"],
        )


@dataclass(slots=True)
class SearchAnswer:
    """What was read, which sample is in which file, and what could not be read."""

    files: int = 0
    size: int = 0
    hits: list[tuple[int, str]] = field(default_factory=list[tuple[int, str]])
    #: By place: the bytes that an outline was made of.
    revealed: dict[int, bytes] = field(default_factory=dict[int, bytes])
    unread: dict[str, str] = field(default_factory=dict[str, str])

    def to_json(self) -> dict[str, object]:
        """Return the answer in plain types."""
        revealed = {str(place): piece.hex() for place, piece in self.revealed.items()}
        read = {"files": self.files, "size": self.size, "hits": self.hits}
        return {**read, "revealed": revealed, "unread": self.unread}

    @classmethod
    def from_json(cls, given: dict[str, Any]) -> "SearchAnswer":
        """Return the answer that `to_json` wrote."""
        return cls(
            files=given["files"],
            size=given["size"],
            hits=[(place, name) for place, name in given["hits"]],
            revealed={int(place): bytes.fromhex(piece) for place, piece in given["revealed"].items()},
            unread=given["unread"],
        )


def search(question: SearchQuestion) -> SearchAnswer:
    """Read every file under the root, and return what was found and what could not be read."""
    answer = SearchAnswer()
    key = OutlineKey(question.outline_key) if question.outline_key else None
    matcher = Matcher(question.needles, question.outlines, key)
    keys = SearchKeys(PageKeys(question.keys), frozenset(question.foreign))
    own = PageKeys([key for place, key in enumerate(question.keys) if place not in keys.foreign])
    for path in _files(question.root, answer):
        name = path.relative_to(question.root).as_posix()
        try:
            if any(name.startswith(one) for one in question.skipped) and not _opens_with(path, own):
                continue
            size = path.stat().st_size
            findings = _read_file(path, name, matcher, keys, question.others)
        except FileNotFoundError:
            # The file was deleted during the search, as database logs are.
            continue
        except OSError as error:
            answer.unread[name] = f"it cannot be read ({error.strerror})"
            continue
        answer.files += 1
        answer.size += size
        answer.hits += [(place, name) for place in sorted(findings.found)]
        answer.unread |= findings.unread
    answer.revealed = matcher.revealed
    return answer


def _read_file(path: Path, name: str, matcher: Matcher, keys: SearchKeys, others: Collection[str]) -> FileFindings:
    reader = FileReader(matcher, keys, others)
    for wait in (*_WAITS, None):
        reader = FileReader(matcher, keys, others)
        with path.open("rb") as file:
            reader.read(name, file)
        if name not in reader.findings.unread or wait is None or not may_be_changing(path):
            break
        time.sleep(wait)
    return reader.findings


def _opens_with(path: Path, own: PageKeys) -> bool:
    """Return whether a file under the name of another owner's database is a copy that one of our keys opens."""
    with path.open("rb") as file:
        size = encrypted_page_size(file.read(HEAD_BYTES))
        file.seek(0)
        return size is not None and own.open(file.read(size), 1) is not None


def _files(root: Path, answer: SearchAnswer) -> Iterator[Path]:
    """Yield every file once, also behind links: a folder moved to another disk leaves a link."""
    seen: set[tuple[int, int]] = set()

    def unlistable(error: OSError) -> None:
        if not isinstance(error, FileNotFoundError):
            name = Path(error.filename).relative_to(root).as_posix()
            answer.unread[name] = f"the folder cannot be listed ({error.strerror})"

    for folder, inner, names in os.walk(root, followlinks=True, onerror=unlistable):
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


def main() -> None:
    """Answer the one question on stdin."""
    json.dump(search(SearchQuestion.from_json(json.loads(sys.stdin.read()))).to_json(), sys.stdout)


if __name__ == "__main__":
    main()
