"""Identifies this home among several that use one database: a random id in a small file, and a readable name.

Notes, transcripts and LEARNINGS.md are files of one host. By this id a host knows which of them are its own.
"""

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.home.files import PRIVATE_FILE, TEMPORARY, explain, read_regular, sync_file, sync_folder, write_all
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

_MOST_BYTES = 4096
_ID_BYTES = 12


@dataclass(frozen=True, slots=True)
class Host:
    """A home folder on a machine."""

    id: str
    #: The machine and the folder, for people.
    name: str


def this_host(home: Home) -> Host:
    """Return the host of a home; its id is made once, and made again in a copy of the home."""
    # Imported here: most homes have no database that other hosts use too.
    import socket  # noqa: PLC0415

    found = _read(home.host_file)
    if found is None:
        with Lock(home.locks / "host.lock"):
            found = _read(home.host_file) or _make(home.host_file)
    return Host(found, f"{socket.gethostname()}:{home.root}")


def _read(path: Path) -> str | None:
    """Return the id in the file; None when there is none, or when the file is a copy.

    Two homes with one id would take each other's files for their own, so the file holds its number in the file system,
    which a copy does not have.
    """
    try:
        number = path.lstat().st_ino
        found: object = json.loads(read_regular(path, _MOST_BYTES))
    except (OSError, ValueError, InvalidInput):
        return None
    fields = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    named = fields.get("id")
    return named if isinstance(named, str) and named and fields.get("inode") == number else None


def _make(path: Path) -> str:
    made = secrets.token_hex(_ID_BYTES)
    temporary = path.with_name(TEMPORARY.replace("*", secrets.token_hex(8)))
    try:
        file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_FILE)
        try:
            write_all(file, json.dumps({"id": made, "inode": os.fstat(file).st_ino}).encode() + b"\n")
            sync_file(file)
        finally:
            os.close(file)
        temporary.replace(path)
        sync_folder(path.parent)
    except OSError as error:
        raise explain(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return made
