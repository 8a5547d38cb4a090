"""Puts the database of a server on a disk of a few MiB that a test can fill and free.

It is a tmpfs in a mount namespace of the server, which ends with it. An account that may mount nothing gets a server
that refuses every new message with the code of a full disk.
"""

import os
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tests.plugins.postgres_pairs import OwnServer

_MIB = 64
_START = (
    'mount -t tmpfs -o "size=$1m,uid=$2,mode=700" none "$3"; '
    'exec setpriv --reuid "$2" --clear-groups -- "$4" -D "$5" -l "$6" -s -w start'
)
_REFUSE = """
    CREATE FUNCTION recollectum.refuse() RETURNS trigger LANGUAGE plpgsql
        AS $$ BEGIN RAISE EXCEPTION 'could not extend file' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER refuse BEFORE INSERT ON recollectum.messages EXECUTE FUNCTION recollectum.refuse()
"""


@dataclass(frozen=True)
class SmallDisk:
    """The disk of a database."""

    fill: Callable[[], None]
    free: Callable[[], None]


def on_small_disk(server: OwnServer) -> SmallDisk:
    """Move the database of a running server to a small disk."""
    if server.user is None:
        return SmallDisk(
            lambda: _run(server, _REFUSE), lambda: _run(server, "DROP FUNCTION recollectum.refuse() CASCADE")
        )
    server.stop()
    folder = server.place / "small"
    folder.mkdir()
    program = str(Path(server.server.programs) / "pg_ctl")
    arguments = [str(_MIB), str(server.user), str(folder), program, server.server.data, server.server.log]
    subprocess.run(
        ["unshare", "--mount", "sh", "-e", "-c", _START, "sh", *arguments],
        check=True,
        cwd=server.place,
        # Not captured: the server inherits the pipes.
        stdout=subprocess.DEVNULL,
        env={**os.environ, "LC_ALL": "C.UTF-8"},
    )
    server.run(f"CREATE TABLESPACE small LOCATION '{folder}'", "postgres")
    server.run(f"ALTER DATABASE {server.database.name} SET TABLESPACE small", "postgres")
    # The disk as the server sees it.
    filler = Path(f"/proc/{server.postmaster}/root{folder.resolve()}/filler")
    return SmallDisk(lambda: _fill(filler), filler.unlink)


def _run(server: OwnServer, statement: str) -> None:
    server.run(statement)


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as filler:
        try:
            while True:
                filler.write(bytes(8192))
        except OSError:
            return
