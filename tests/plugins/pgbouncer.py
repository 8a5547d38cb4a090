"""Puts PgBouncer before the PostgreSQL servers of a test run: transactions of all clients share one connection.

Debian's release knows no prepared statements, so that a home behind it needs `storage.prepared_statements = "off"`,
which the plugin sets. A chosen part of the tests goes through it, and with RECOLLECTUM_TEST_ENGINES=all every test of a
PostgreSQL database.
"""

import os
import signal
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

from tests.plugins.postgres_programs import ADMINISTRATOR, Server, locked, run_program, unprivileged, watch
from tests.tools.pooler import find_pooler

POOLED = "-pooled"
#: The folders and files whose tests go through it in every run.
CHOSEN = (
    "tests/conformance/",
    "tests/storage/postgres/test_database.py",
    "tests/storage/postgres/test_isolation.py",
    "tests/storage/postgres/test_round_trips.py",
    "tests/storage/postgres/test_strangers.py",
    "tests/vault/memories/test_saved_together.py",
    "tests/vault/undo/",
)
_TWO = "holds a second transaction inside the first, and there is one connection"
_KEPT = "changes what a new connection to the server gets, and the pooler keeps its old one"
#: Tests that are not for a pooler with one connection, with the reason.
DIRECT_ALONE = {
    "tests/storage/postgres/faults/test_troubles.py::test_a_server_that_has_no_connection_left_for_a_while": _KEPT,
    "tests/storage/postgres/test_database.py::test_a_read_is_one_snapshot": _TWO,
    "tests/storage/postgres/test_database.py::test_a_second_writer_of_a_vault_waits_and_others_do_not": _TWO,
    "tests/storage/postgres/test_failures.py::test_a_server_that_accepts_no_writes": _KEPT,
    "tests/storage/postgres/test_failures.py::test_two_writers_that_wait_for_each_other": _TWO,
    "tests/storage/postgres/test_cold_recall.py::test_a_connection_lost_while_types_are_asked_is_not_used_again": (
        "ends the backend of a connection by its number, which a pooler invents"
    ),
    "tests/storage/postgres/test_operations.py::test_a_pooler_is_noticed_by_the_backend_it_invents": (
        "expects the prepared statements of a home that knows of no pooler"
    ),
    "tests/storage/postgres/test_text_index.py::test_a_reader_of_an_older_snapshot_finds_what_it_had": _TWO,
}
_PATIENCE = 30.0
_SETTINGS = """
[databases]
* = host={server}

[pgbouncer]
listen_addr =
listen_port = 5432
unix_socket_dir = {place}
unix_socket_mode = 0777
auth_type = trust
auth_file = {place}/users
pool_mode = transaction
default_pool_size = 1
max_client_conn = 500
query_wait_timeout = {wait}
logfile = {place}/log
pidfile = {place}/pgbouncer.pid
"""


def pooled_servers(place: str, available: list[str]) -> list[str]:
    """The servers that a test reaches through a pooler too: none, one, or all; no pooler is put before a given one."""
    if find_pooler() is None or place in DIRECT_ALONE or available in ([], ["given"]):
        return []
    if os.environ.get("RECOLLECTUM_TEST_ENGINES") == "all":
        return [version + POOLED for version in available]
    # Not the server that a test of both engines reaches directly, where there are two.
    one = available[(crc32(place.encode()) + 1) % len(available)]
    return [one + POOLED] if place.startswith(CHOSEN) else []


@contextmanager
def own_pooler(folder: Path, server: Server, users: tuple[str, ...], *, wait: int) -> Generator[str]:
    """Start a pooler of one test, whose clients wait so many seconds for the connection; stop it after the block."""
    place = Path(tempfile.mkdtemp(prefix="pool-", dir=folder))
    _start(place, server, users, wait=wait)
    watch(folder)
    try:
        yield str(place)
    finally:
        os.kill(int((place / "pgbouncer.pid").read_text(encoding="utf-8")), signal.SIGTERM)


def start_pooler(folder: Path, server: Server, users: tuple[str, ...]) -> str:
    """Return the folder of the socket of the pooler before a server, started if no worker has done so."""
    place = folder / f"{server.version}{POOLED}"
    with locked(folder / f"{place.name}.lock"):
        if not (place / "started").exists():
            place.mkdir()
            _start(place, server, users, wait=30)
            watch(folder)
            (place / "started").touch()
    return str(place)


def _start(place: Path, server: Server, users: tuple[str, ...], *, wait: int) -> None:
    place.chmod(0o755)
    settings = _SETTINGS.format(server=server.parameters["host"], place=place, wait=wait)
    (place / "pgbouncer.ini").write_text(settings, encoding="utf-8")
    listed = "".join(f'"{name}" ""\n' for name in (ADMINISTRATOR, *users))
    (place / "users").write_text(listed, encoding="utf-8")
    user = unprivileged()
    if user is not None:
        os.chown(place, user, -1)
    # It refuses to be root, as the server does.
    run_program([str(find_pooler()), "--daemon", place / "pgbouncer.ini"], user, place)
    # The program returns before the one that it started is ready.
    end = time.monotonic() + _PATIENCE
    while not all((place / name).exists() for name in ("pgbouncer.pid", ".s.PGSQL.5432")):
        if time.monotonic() > end:
            raise RuntimeError(f"PgBouncer did not start:\n{(place / 'log').read_text(encoding='utf-8')}")
        time.sleep(0.02)
