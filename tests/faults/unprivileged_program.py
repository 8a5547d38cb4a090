"""A program that uses a home as an account without privileges, and prints as JSON how it was refused.

Its arguments are `HOME UID`, and a third one when a command line is to be tried as well.
"""

import io
import json
import os
import sys
import tempfile
from collections.abc import Mapping
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

from recollectum import Recollectum
from recollectum.domain.errors import RecollectumError


def main() -> None:
    home, uid, *more = sys.argv[1:]
    with tempfile.TemporaryDirectory() as elsewhere:
        # Where Python lies, the other account may not be able to read: what is imported late is imported now.
        places = {"HOME": elsewhere, "XDG_CONFIG_HOME": elsewhere, "RECOLLECTUM_SYSTEM_DIR": elsewhere}
        _use(Path(elsewhere) / "home", places)
        if more:
            _command(Path(elsewhere) / "home")
    # Root may write anywhere, and so would show nothing.
    if os.getuid() == 0:
        os.setgid(int(uid))
        os.setuid(int(uid))
    os.chdir("/")
    told = _use(Path(home), os.environ)
    print(json.dumps({**told, "command": _command(Path(home))} if more else told))


def _command(home: Path) -> str:
    """The exit code of a command line that writes, and what it said."""
    from recollectum.doors.cli.main import main as command

    said = io.StringIO()
    with redirect_stdout(io.StringIO()), redirect_stderr(said):
        code = command(("remember", "something else", "--user", "ann", "--home", str(home)))
    return f"{code} {said.getvalue()}"


def _use(home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What was said to each attempt; nothing when it went well."""
    told = {"open": "", "save": "", "recall": ""}
    try:
        with Recollectum(home, environ=environ) as r:
            vault = r.vault("user:ann")
            try:
                vault.memories.save("something else")
            except RecollectumError as error:
                told["save"] = str(error)
            try:
                told["recall"] = str(len(vault.recall("keep")))
            except RecollectumError as error:
                told["recall"] = str(error)
    except RecollectumError as error:
        told["open"] = str(error)
    return told


if __name__ == "__main__":
    main()
