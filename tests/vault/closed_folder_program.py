"""A program that asks a home for a memory as an account that may not look into the admin's folder: `FOLDER UID`."""

import os
import sys
import tempfile
from pathlib import Path

from recollectum.domain.errors import RecollectumError
from tests.matrix.homes import Turning, open_home


def main() -> None:
    folder, uid = sys.argv[1:]
    with tempfile.TemporaryDirectory() as elsewhere:
        # Where Python lies, the other account may not be able to read: what is imported late is imported now.
        Path(elsewhere, "system/policies").mkdir(parents=True)
        Path(elsewhere, "system/policies/a.toml").write_text('[[rule]]\ntool = "purge.*"\ndecision = "deny"\n')
        _ask(Path(elsewhere))
    # Root looks into every folder, and so would show nothing.
    if os.getuid() == 0:
        os.setgid(int(uid))
        os.setuid(int(uid))
    os.chdir("/")
    print(_ask(Path(folder)))


def _ask(folder: Path) -> str:
    """What came of it: how many hits, or the refusal."""
    try:
        with open_home(folder, Turning()) as home:
            return f"{len(home.vault('user:alice').recall('tea'))} found"
    except RecollectumError as error:
        return f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    main()
