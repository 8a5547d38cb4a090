"""Waits for the end of a test run, also by a crash, then stops its servers and poolers and removes their files."""

import fcntl
import os
import shutil
import signal
import sys
import time
from pathlib import Path

_PATIENCE = 20.0


def main(folder: Path) -> None:
    """Wait for the lock that the run holds as long as it lives."""
    with (folder / "run").open("a", encoding="utf-8") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
    # The poolers first: each would try to reach its server again.
    for name, end in (("*/pgbouncer.pid", signal.SIGTERM), ("*/data/postmaster.pid", signal.SIGQUIT)):
        for file in folder.glob(name):
            _stop(int(file.read_text(encoding="utf-8").split()[0]), end)
    for link in folder.iterdir():
        if link.is_symlink():
            shutil.rmtree(link.resolve(), ignore_errors=True)
    shutil.rmtree(folder, ignore_errors=True)


def _stop(pid: int, end_by: signal.Signals) -> None:
    try:
        os.kill(pid, end_by)
        end = time.monotonic() + _PATIENCE
        while time.monotonic() < end:
            os.kill(pid, 0)
            time.sleep(0.02)
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


if __name__ == "__main__" and not os.fork():
    main(Path(sys.argv[1]))
