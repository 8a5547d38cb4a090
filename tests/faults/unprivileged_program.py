"""A program that uses a home as an account without privileges, and prints as JSON how it was refused: `HOME UID`."""

import json
import os
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from recollect import Recollect
from recollect.domain.errors import RecollectError


def main() -> None:
    home, uid = sys.argv[1:]
    with tempfile.TemporaryDirectory() as elsewhere:
        # Where Python lies, the other account may not be able to read: what is imported late is imported now.
        places = {"HOME": elsewhere, "XDG_CONFIG_HOME": elsewhere, "RECOLLECT_SYSTEM_DIR": elsewhere}
        _use(Path(elsewhere) / "home", places)
    # Root may write anywhere, and so would show nothing.
    if os.getuid() == 0:
        os.setgid(int(uid))
        os.setuid(int(uid))
    os.chdir("/")
    print(json.dumps(_use(Path(home), os.environ)))


def _use(home: Path, environ: Mapping[str, str]) -> dict[str, str]:
    """What was said to each attempt; nothing when it went well."""
    told = {"open": "", "save": "", "recall": ""}
    try:
        with Recollect(home, environ=environ) as r:
            vault = r.vault("user:ann")
            try:
                vault.memories.save("something else")
            except RecollectError as error:
                told["save"] = str(error)
            try:
                told["recall"] = str(len(vault.recall("keep")))
            except RecollectError as error:
                told["recall"] = str(error)
    except RecollectError as error:
        told["open"] = str(error)
    return told


if __name__ == "__main__":
    main()
