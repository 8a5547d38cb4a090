"""Makes sure that there is a browser for the tests of the console: `python -m tests.tools.browser`.

Debian's package is taken where this account may install it. Where it may not, this says so, and the tests that need a
browser are skipped, which fails a run in CI.
"""

import os
import shutil
import subprocess
import sys

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
_INSTALL = ("apt-get", "install", "--yes", "--no-install-recommends", "chromium")
_PATIENCE_S = 600


def find_browser() -> str | None:
    """The path of a browser that Playwright can drive, or None."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


def main() -> int:
    """Install one where there is none; never a failure, since most tests need none."""
    if find_browser() is None and not _install():
        print(f"no browser: none of {', '.join(NAMES)} is on the path and none could be installed", file=sys.stderr)
    return 0


def _install() -> bool:
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        return False
    # What is known of the packages may be missing or too old, so the second attempt asks anew.
    for line in (_INSTALL, ("apt-get", "update"), _INSTALL):
        done = subprocess.run(
            line, env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"}, capture_output=True, timeout=_PATIENCE_S
        )
        if find_browser():
            return True
        if done.returncode:
            print(f"{' '.join(line)} ended with {done.returncode}", file=sys.stderr)
    return False


if __name__ == "__main__":
    sys.exit(main())
