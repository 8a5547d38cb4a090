"""Finds the daemon of a home: its process, and the address it listens on.

A daemon holds `locks/daemon.lock` for as long as it lives, so the kernel knows when it is gone. While it answers
requests it keeps `run/daemon.json`, readable by the owner of the home alone: whoever has its token acts as that owner.
"""

import contextlib
import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import cast

from recollectum.home.files import make_private_folder, write_atomic
from recollectum.home.locks import Lock, LockHolder
from recollectum.home.paths import Home

#: Somebody who only looks whether the lock is held may have it for an instant.
_PATIENCE = timedelta(seconds=1)


@dataclass(frozen=True, slots=True)
class Daemon:
    """A running daemon that answers requests."""

    #: Where it listens, such as `http://127.0.0.1:8377`, without a slash at the end.
    url: str
    pid: int
    #: Whoever shows it acts as the owner of the home; new at each start, and never printed.
    token: str = field(repr=False)
    started_at: datetime


def daemon_lock(home: Home) -> Lock:
    """The lock that a daemon holds for as long as it lives."""
    return Lock(home.locks / "daemon.lock", timeout=_PATIENCE)


def find_daemon(home: Home) -> Daemon | None:
    """The daemon that answers requests for this home; None when no process holds its lock, or it does not listen."""
    found = _read(_file(home))
    if found is None or not is_held(home.locks / "daemon.lock"):
        return None
    holder = daemon_lock(home).holder()
    # A daemon that was killed leaves its file behind; the next one is not there yet, or does not listen.
    return found if holder is None or holder.pid == found.pid else None


def find_holder(home: Home) -> LockHolder | None:
    """The process that is the daemon of this home, whether it listens or not; None when there is none."""
    return daemon_lock(home).holder() if is_held(home.locks / "daemon.lock") else None


def write_daemon(home: Home, daemon: Daemon) -> None:
    """Say where the daemon listens; only the holder of the lock does, once it listens."""
    make_private_folder(_file(home).parent)
    fields = {"url": daemon.url, "pid": daemon.pid, "token": daemon.token, "started_at": daemon.started_at.isoformat()}
    write_atomic(_file(home), json.dumps(fields).encode() + b"\n")


def remove_daemon(home: Home) -> None:
    """Take back what `write_daemon` said; also what a daemon that was killed had said."""
    with contextlib.suppress(FileNotFoundError):
        _file(home).unlink()


def is_held(path: Path) -> bool:
    """Whether a process holds the lock at a path; asking keeps nobody from taking it for longer than an instant."""
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
        # Shared: two who look at once must not take each other for the holder.
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
