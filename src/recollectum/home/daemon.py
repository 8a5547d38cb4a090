"""Finds the daemon of a home: its process, and the address it listens on.

A daemon holds `locks/daemon.lock` while it lives, so the kernel knows when it is gone. While it answers requests it
keeps `run/daemon.json`, readable only by the owner of the home: a client with its token acts as that owner.
"""

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import field
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder, write_atomic
from recollectum.home.locks import Lock, LockHolder
from recollectum.home.paths import Home

#: A process that only checks the lock may hold it for an instant.
_PATIENCE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running daemon that answers requests."""

    #: Where it listens, such as `http://127.0.0.1:8377`, without a slash at the end.
    url: str
    pid: int
    #: A client with this token acts as the owner of the home; new at each start, and never printed.
    token: str = field(repr=False)
    started_at: datetime


def daemon_lock(home: Home) -> Lock:
    """Return the lock that a daemon holds while it lives."""
    return Lock(home.locks / "daemon.lock", timeout=_PATIENCE)


def find_daemon(home: Home) -> Daemon | None:
    """Return the daemon that answers requests for this home; None when there is none or it does not listen."""
    found = _read(_file(home))
    if found is None or not is_held(home.locks / "daemon.lock"):
        return None
    holder = daemon_lock(home).holder()
    # A killed daemon leaves its file behind, and the next one may not listen yet.
    return found if holder is None or holder.pid == found.pid else None


def find_holder(home: Home) -> LockHolder | None:
    """Return the process of the home's daemon, whether it listens or not; None when there is none."""
    return daemon_lock(home).holder() if is_held(home.locks / "daemon.lock") else None


def write_daemon(home: Home, daemon: Daemon) -> None:
    """Record where the daemon listens; called only by the lock holder, once it listens."""
    make_private_folder(_file(home).parent)
    fields = {"url": daemon.url, "pid": daemon.pid, "token": daemon.token, "started_at": daemon.started_at.isoformat()}
    write_atomic(_file(home), json.dumps(fields).encode() + b"\n")


def remove_daemon(home: Home) -> None:
    """Remove the record of `write_daemon`, also one that a killed daemon left."""
    with contextlib.suppress(FileNotFoundError):
        _file(home).unlink()


def is_held(path: Path) -> bool:
    """Return whether a process holds the lock at a path; the check holds the lock only for an instant."""
    if not path.exists():
        return False
    if sys.platform == "win32":
        lock = Lock(path)
        free = lock.wait(timedelta())
        lock.release()
        return not free
    import fcntl  # noqa: PLC0415 - there is no such module on Windows

    try:
        file = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        # Shared: two simultaneous checks must not take each other for the holder.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(file)
    return False


def _file(home: Home) -> Path:
    return home.root / "run" / "daemon.json"


def _read(path: Path) -> Daemon | None:
    try:
        found: object = json.loads(path.read_bytes())
        if not isinstance(found, dict):
            return None
        fields = cast("Mapping[str, object]", found)
        url, pid, token = fields["url"], fields["pid"], fields["token"]
        started_at = datetime.fromisoformat(str(fields["started_at"]))
    except (OSError, ValueError, KeyError):
        return None
    if not isinstance(url, str) or not isinstance(pid, int) or not isinstance(token, str):
        return None
    return Daemon(url, pid, token, started_at)
