"""Runs a test once for each engine: SQLite and every PostgreSQL server of this machine, encrypted and not.

A test that asks for `engine_settings` gets the settings of a home on each of them. A test in a folder of `BOTH` needs
no change: it runs once on SQLite and once on PostgreSQL, where each home that it opens gets its own database, whatever
its settings are. Where several servers are installed such a test meets one of them, always the same, and with
RECOLLECTUM_TEST_ENGINES=all each of them. Some run once more through a pooler: see `pgbouncer`.
"""

import os
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from tests.plugins.pgbouncer import pooled_servers
from tests.plugins.postgres import PostgresDatabase, available, database_on

if TYPE_CHECKING:
    from recollectum.domain.ids import Clock
    from recollectum.home.paths import Home
    from recollectum.settings.storage import StorageSettings
    from recollectum.storage.engine import Engine

#: The folders and files whose tests run on both engines.
BOTH = (
    "tests/adapters/adk/test_memory.py",
    "tests/adapters/mem0/",
    "tests/matrix/test_matrix.py",
    "tests/vault/access/",
    "tests/vault/agent_state/",
    "tests/vault/consolidation/",
    "tests/vault/contacts/",
    "tests/vault/context/",
    "tests/vault/files/",
    "tests/vault/imports/",
    "tests/vault/intake/",
    "tests/vault/memories/",
    "tests/vault/notes/",
    "tests/vault/projects/",
    "tests/vault/purge/",
    "tests/vault/retention/",
    "tests/vault/review/",
    "tests/vault/sessions/",
    "tests/vault/test_learnings.py",
    "tests/vault/test_renewals.py",
    "tests/vault/test_session_cache.py",
    "tests/vault/test_sources.py",
    "tests/vault/transcripts/",
    "tests/vault/undo/",
)
#: Tests that run on PostgreSQL alone: the same runs on SQLite under another name.
SERVERS = ("tests/conformance/test_laws_on_servers.py",)
_PROGRAM = "another program opens the home, and is not told of a database"
_TRACED = "counts the statements of SQLite's connections; storage/postgres/test_round_trips.py counts round trips"
_FILES = "looks into the files; storage/postgres/test_canaries.py looks into those of a server"
_CLOCK = "sets the clock of the program, and the server's decides about leases and retries"
_EXAMPLES = "opens a home for each of many examples; conformance/test_laws_on_servers.py gives it a few on PostgreSQL"
#: Tests in these folders that run on SQLite alone, with the reason.
FILES_ALONE = {
    "tests/adapters/mem0/test_memory.py::test_what_mem0_refuses_is_refused": "refused before a database is asked",
    "tests/matrix/test_matrix.py::test_an_encrypted_home_keeps_people_as_far_apart": _FILES,
    "tests/vault/access/test_people_merge.py::test_a_process_killed_between_two_steps_leaves_all_or_nothing": _PROGRAM,
    "tests/vault/agent_state/test_shell_history.py::test_shells_that_record_at_once_lose_no_command": _PROGRAM,
    "tests/vault/consolidation/test_consolidation.py::"
    "test_a_model_that_fails_leaves_everything_and_is_asked_again": _CLOCK,
    "tests/vault/consolidation/test_consolidation.py::test_a_job_that_always_fails_is_given_up_and_seen": _CLOCK,
    "tests/vault/consolidation/test_consolidation.py::"
    "test_the_job_of_a_worker_that_died_is_taken_over_when_its_lease_ends": _CLOCK,
    "tests/vault/consolidation/test_consolidation.py::test_reset_ends_the_session_also_when_the_model_fails": _CLOCK,
    "tests/vault/context/test_build.py::"
    "test_a_context_takes_as_much_work_in_a_long_conversation_as_in_a_short_one": _TRACED,
    "tests/vault/intake/test_redaction.py::test_no_byte_of_a_secret_is_written": _FILES,
    "tests/vault/intake/test_served.py::test_a_context_sends_no_statement_that_writes": _TRACED,
    "tests/vault/retention/test_retention_presets.py::"
    "test_a_vault_from_before_keeps_its_memories_after_the_upgrade": "a file of an earlier version",
    "tests/vault/sessions/test_echoes.py::test_the_messages_are_read_in_steps_that_tell_how_far_they_are": _TRACED,
    "tests/vault/sessions/test_sessions.py::test_agents_apart_share_nothing": "counts the files of the vaults",
    "tests/vault/test_learnings.py::test_several_programs_sync_one_file": _PROGRAM,
    "tests/vault/test_session_cache.py::test_a_change_of_another_process_is_seen_at_once": _PROGRAM,
    "tests/vault/test_session_cache.py::test_a_list_is_read_once_while_nothing_changes": _TRACED,
    "tests/vault/sessions/test_waiting.py::"
    "test_a_search_that_cannot_write_says_how_many_it_did_not_search": "has a connection of SQLite refuse writes",
    "tests/vault/transcripts/test_transcript_sync_kills.py::"
    "test_each_message_is_there_once_whenever_the_reader_is_killed": _PROGRAM,
    "tests/vault/undo/test_undo_laws.py::"
    "test_undoing_one_step_is_where_it_was_and_undoing_that_is_where_it_is": _EXAMPLES,
    "tests/vault/undo/test_undo_laws.py::test_nothing_purged_comes_back_however_far_one_goes": _EXAMPLES,
}
SQLITE = "sqlite"
_current: list[str] = [SQLITE]
#: The databases of the homes that were opened, and what drops them, the innermost last.
_made: dict[Path, PostgresDatabase] = {}
_kept: list[ExitStack] = []

#: The settings of each kind of SQLite home.
_SQLITE: dict[str, dict[str, object]] = {"sqlite": {"encryption": "off"}, "encrypted": {"encryption": "auto"}}
_SERVER, _PLAIN = "postgres-", "-plain"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for an engine each of them."""
    if "engine_settings" in metafunc.fixturenames:
        servers = [f"{_SERVER}{version}" for version in available()]
        # Without encryption the tables are the same: one server is enough.
        pooled = (_SERVER + one for one in pooled_servers(metafunc.definition.nodeid, available()))
        engines = [*_SQLITE, *servers, *(one + _PLAIN for one in servers[-1:]), *pooled]
        metafunc.parametrize("engine_settings", engines, indirect=True)
    place = metafunc.definition.nodeid
    if place.startswith(BOTH) and place not in FILES_ALONE:
        metafunc.parametrize("engine", [SQLITE, *_servers_for(place)], indirect=True)
    if place.startswith(SERVERS):
        found = _servers_for(place)
        metafunc.parametrize("engine", found if _all_engines() else found[:1], indirect=True)


def _all_engines() -> bool:
    return os.environ.get("RECOLLECTUM_TEST_ENGINES") == "all"


def _servers_for(place: str) -> list[str]:
    """The servers that a test runs on."""
    found = [f"{_SERVER}{version}" for version in available()]
    pooled = [_SERVER + one for one in pooled_servers(place, available())]
    if _all_engines() or not found:
        return [*found, *pooled]
    return [found[crc32(place.encode()) % len(found)], *pooled]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test on a server starts a program."""
    for item in items:
        called = getattr(item, "callspec", None)
        names = [str(called.params.get(name, "")) for name in ("engine", "engine_settings")] if called else []
        if any(name.startswith(_SERVER) for name in names):
            item.add_marker("process")


@pytest.fixture
def engine_settings(request: pytest.FixtureRequest) -> Iterator[dict[str, object]]:
    """The settings of a home on one engine, with a new database if that is a server."""
    engine = str(request.param)
    if engine in _SQLITE:
        yield _SQLITE[engine]
        return
    encryption = "off" if engine.endswith(_PLAIN) else "auto"
    with database_on(engine.removeprefix(_SERVER).removesuffix(_PLAIN)) as database:
        yield {"encryption": encryption, "storage.url": database.url()}


def current_engine() -> str:
    """The engine of the homes that the running test opens."""
    return _current[-1]


@pytest.fixture(autouse=True)
def engine(request: pytest.FixtureRequest) -> Iterator[str]:
    """The engine of a test that runs on both."""
    name: str = getattr(request, "param", SQLITE)
    if name == SQLITE:
        yield name
        return
    from recollectum import runtime
    from recollectum.upkeep.backup import restore

    _current.append(name)
    try:
        with ExitStack() as stack, databases_until(stack), pytest.MonkeyPatch.context() as patch:
            for module in (runtime, restore):
                patch.setattr(module, "open_engine", _open_engine)
            yield name
    finally:
        _current.pop()


@contextmanager
def databases_until(stack: ExitStack) -> Generator[None]:
    """Keep the databases of the homes that are made in this block until a stack is closed."""
    _kept.append(stack)
    try:
        yield
    finally:
        _kept.pop()


def copy_databases(folder: Path, to: Path) -> None:
    """Give the homes in a copy of a folder copies of their databases, which nobody has open."""
    for root, made in [*_made.items()]:
        if root.is_relative_to(folder):
            _make(to / root.relative_to(folder), made)


def database_of(root: Path) -> PostgresDatabase | None:
    """The database of a home of the running test; None on SQLite."""
    return _made.get(root)


def _make(root: Path, copied: PostgresDatabase | None = None) -> None:
    _made[root] = _kept[-1].enter_context(database_on(current_engine().removeprefix(_SERVER), copied))
    _kept[-1].callback(_made.pop, root)


def _open_engine(
    home: "Home",
    settings: "StorageSettings",
    clock: "Clock",
    reload: "Callable[[], StorageSettings] | None" = None,
) -> "Engine":
    """Return the engine of a home, as if `storage.url` named its database."""
    from recollectum.storage.opening import open_engine

    if not settings.url and home.root not in _made:
        _make(home.root)
    if settings.url:
        return open_engine(home, settings, clock)
    made = _made[home.root]
    prepared = made.prepared_statements
    return open_engine(home, replace(settings, url=made.url(), prepared_statements=prepared), clock)
