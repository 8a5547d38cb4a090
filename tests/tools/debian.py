"""Installs programs that some tests need from Debian, where this account may: `python -m tests.tools.debian`.

Where it may not, this says so. Without a browser the tests of the console are skipped, which fails a run in CI; without
PgBouncer the tests that go through it are not collected, and the first lines of a run say that there is none.
"""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable

from tests.tools.browser import NAMES, find_browser
from tests.tools.pooler import find_pooler

_INSTALL = ("apt-get", "install", "--yes", "--no-install-recommends")
_PATIENCE_S = 600


def main() -> int:
    """Install what is missing; never a failure, since most tests need none of it."""
    if not _has("chromium", find_browser):
        print(f"no browser: none of {', '.join(NAMES)} is on the path and none could be installed", file=sys.stderr)
    if not _has("pgbouncer", find_pooler):
        print("no pooler: pgbouncer is not on the path and could not be installed", file=sys.stderr)
    return 0


def _has(package: str, find: Callable[[], str | None]) -> bool:
    """Whether a program is there, installed if it has to be."""
    if find() is not None:
        return True
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    # What is known of the packages may be missing or too old, so the second attempt asks anew.
    for line in ((*_INSTALL, package), ("apt-get", "update"), (*_INSTALL, package)):
        done = subprocess.run(
            line, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True, timeout=_PATIENCE_S
        )
        if find():
            return True
        if done.returncode:
            print(f"{' '.join(line)} ended with {done.returncode}", file=sys.stderr)
    return False


if __name__ == "__main__":
    sys.exit(main())
