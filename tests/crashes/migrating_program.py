"""A program that migrates a filled vault: killed at every statement (`killed`), or beside others (`beside`).

`killed FOLDER KEY` makes a copy of FOLDER/vault.db for each place at which it lets a child of its own die.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path

import apsw

from recollectum.domain.ids import system_clock
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate
from tests.crashes.made_up_steps import STEPS

#: Steps of SQLite's machine between two chances to die inside a statement.
_TICK = 200


def main() -> None:
    task, folder, key = sys.argv[1:]
    if task == "beside":
        print("ready", flush=True)
        sys.stdin.readline()
        _migrate(Path(folder) / "vault.db", bytes.fromhex(key), lambda connection: None)
        print("done", flush=True)
        return
    for name, arm in (("statement", _die_at_statement), ("tick", _die_at_tick)):
        number = 0
        while _child(Path(folder), f"{name}-{number}", bytes.fromhex(key), arm(number)):
            number += 1
        print(f"{name} {number}", flush=True)


def _child(folder: Path, name: str, key: bytes, arm: Callable[[apsw.Connection], None]) -> bool:
    """Let a child migrate a copy; whether it was killed before it had finished."""
    copy = folder / name / "vault.db"
    copy.parent.mkdir()
    shutil.copyfile(folder / "vault.db", copy)
    child = os.fork()
    if child == 0:
        _migrate(copy, key, arm)
        os._exit(0)
    _, status = os.waitpid(child, 0)
    if status:
        assert os.WIFSIGNALED(status), f"{name} failed with {os.waitstatus_to_exitcode(status)}"
        return True
    shutil.rmtree(copy.parent)
    return False


def _migrate(path: Path, key: bytes, arm: Callable[[apsw.Connection], None]) -> None:
    database = SqliteDatabase(path, SqliteOptions(key=key))
    database.on_connection(arm)
    migrate(database, STEPS, clock=system_clock, backup=lambda name: back_up(database, path.with_name(name), key=key))
    database.close()


def _die_at_statement(fatal: int) -> Callable[[apsw.Connection], None]:
    count = 0

    def trace(cursor: apsw.Cursor, sql: str, bindings: object) -> bool:
        nonlocal count
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        return True

    def arm(connection: apsw.Connection) -> None:
        connection.exec_trace = trace

    return arm


def _die_at_tick(fatal: int) -> Callable[[apsw.Connection], None]:
    count = 0

    def tick() -> bool:
        nonlocal count
        if count == fatal:
            os.kill(os.getpid(), signal.SIGKILL)
        count += 1
        return False

    return lambda connection: connection.set_progress_handler(tick, _TICK)


if __name__ == "__main__":
    main()
