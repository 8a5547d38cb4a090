"""Writes the hook's log of errors and notices, which never holds content."""

import os
from datetime import datetime
from pathlib import Path

from recollectum.domain.errors import RecollectumError
from recollectum.domain.notice import Notice
from recollectum.home.files import PRIVATE_FILE, make_private_folder
from recollectum.home.paths import Home

#: Above this size the older half is dropped.
MAX_BYTES = 64 * 1024


def log_file(home: Home) -> Path:
    """Return the path of the hook's log."""
    return home.root / "run" / "hook.log"


def log_error(home: Home, where: str, error: BaseException, now: datetime) -> None:
    """Write one line about an error."""
    # Our own errors never contain content; others may, so only their type is written.
    what = f"{type(error).__name__}: {error}" if isinstance(error, RecollectumError) else type(error).__name__
    _write(home, f"{where} {what}", now)


def log_notice(home: Home, notice: Notice, now: datetime) -> None:
    """Write one line about what was done to recorded texts: the agent may not show it."""
    _write(home, f"record {'; '.join(notice.sentences())}", now)


def _write(home: Home, what: str, now: datetime) -> None:
    """Write one line if the disk allows it: a log that cannot be written is no reason to fail."""
    line = f"{now.isoformat(timespec='seconds')} {' '.join(what.split())}\n".encode("utf-8", "replace")
    try:
        path = log_file(home)
        make_private_folder(path.parent)
        _shorten(path)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), PRIVATE_FILE)
        try:
            os.write(handle, line[:2000])
        finally:
            os.close(handle)
    except (OSError, RecollectumError):
        return


def _shorten(path: Path) -> None:
    if not path.exists() or path.stat().st_size < MAX_BYTES:
        return
    kept = path.read_bytes()[-MAX_BYTES // 2 :].partition(b"\n")[2]
    aside = path.with_suffix(".new")
    aside.write_bytes(kept)
    aside.chmod(PRIVATE_FILE)
    aside.replace(path)
