"""A program that runs the life cycle of one vault and dies before a certain statement: `FILE TIME PART-OF-SQL`."""

import os
import signal
import sys
from datetime import datetime
from pathlib import Path

import apsw

from recollectum.storage.sqlite.database import SqliteOptions
from tests.crashes.standing import standing


def main() -> None:
    path, moment, fatal = sys.argv[1:]
    now = datetime.fromisoformat(moment)

    def trace(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        if fatal in sql:
            os.kill(os.getpid(), signal.SIGKILL)
        return True

    def arm(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    with standing(Path(path), SqliteOptions(), clock=lambda: now) as at:
        at.database.on_connection(arm)
        at.vault.admin.lifecycle.run()


if __name__ == "__main__":
    main()
