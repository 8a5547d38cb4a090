"""Runs a test once for each engine: SQLite and every PostgreSQL server of this machine, encrypted and not.

A test that asks for `engine_settings` gets the settings of a home on each of them. A test in a folder of `BOTH` needs
no change: it runs once on SQLite and once on PostgreSQL, where each home that it opens gets its own database, whatever
its settings are. Where several servers are installed such a test meets one of them, always the same.
"""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING
from zlib import crc32

import pytest

from tests.plugins.postgres import available, database_on

if TYPE_CHECKING:
    from recollectum.domain.ids import Clock
    from recollectum.home.paths import Home
    from recollectum.settings.storage import StorageSettings
    from recollectum.storage.engine import Engine

#: The folders whose tests run on both engines.
BOTH = (
    "tests/vault/access/",
    "tests/vault/contacts/",
    "tests/vault/context/",
    "tests/vault/memories/",
    "tests/vault/retention/",
    "tests/vault/review/",
    "tests/vault/sessions/",
    "tests/vault/undo/",
)
_REMAINS = "wants deleted rows to be overwritten at once, which a server does when it vacuums"
_PROGRAM = "another program opens the home, and is not told of a database"
_TRACED = "counts the statements of SQLite's connections; storage/postgres/test_round_trips.py counts round trips"
_EXAMPLES = "opens a home for each of many examples; conformance/test_two_engines.py replays histories on both"
#: Tests in these folders that run on SQLite alone, with the reason.
FILES_ALONE = {
    "tests/vault/access/test_clock_set_back.py::test_a_preview_that_the_clock_left_behind_must_be_made_again": _REMAINS,
    "tests/vault/access/test_people_merge.py::test_a_process_killed_between_two_steps_leaves_all_or_nothing": _PROGRAM,
    "tests/vault/context/test_build.py::"
    "test_a_context_takes_as_much_work_in_a_long_conversation_as_in_a_short_one": _TRACED,
    "tests/vault/memories/test_memories.py::test_what_is_forgotten_is_destroyed_with_every_version": _REMAINS,
    "tests/vault/retention/test_quarantine.py::test_what_is_set_aside_can_be_purged": _REMAINS,
    "tests/vault/retention/test_retention_presets.py::"
    "test_a_vault_from_before_keeps_its_memories_after_the_upgrade": "a file of an earlier version",
    "tests/vault/sessions/test_echoes.py::test_every_form_of_an_echo_is_cut_out_and_the_persons_words_stay": _REMAINS,
    "tests/vault/sessions/test_echoes.py::test_the_command_tells_first_and_then_cuts_out": _REMAINS,
    "tests/vault/sessions/test_echoes.py::test_the_messages_are_read_in_steps_that_tell_how_far_they_are": _TRACED,
    "tests/vault/sessions/test_sessions.py::test_a_deleted_session_leaves_nothing_to_find": _REMAINS,
    "tests/vault/sessions/test_sessions.py::test_agents_apart_share_nothing": "counts the files of the vaults",
    "tests/vault/undo/test_undo_laws.py::"
    "test_undoing_one_step_is_where_it_was_and_undoing_that_is_where_it_is": _EXAMPLES,
    "tests/vault/undo/test_undo_laws.py::test_nothing_purged_comes_back_however_far_one_goes": _EXAMPLES,
}
SQLITE = "sqlite"
_current: list[str] = [SQLITE]

#: The settings of each kind of SQLite home.
_SQLITE: dict[str, dict[str, object]] = {"sqlite": {"encryption": "off"}, "encrypted": {"encryption": "auto"}}
_SERVER, _PLAIN = "postgres-", "-plain"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Give a test that asks for an engine each of them."""
    if "engine_settings" in metafunc.fixturenames:
        servers = [f"{_SERVER}{version}" for version in available()]
        # Without encryption the tables are the same: one server is enough.
        engines = [*_SQLITE, *servers, *(one + _PLAIN for one in servers[-1:])]
        metafunc.parametrize("engine_settings", engines, indirect=True)
    place = metafunc.definition.nodeid
    if place.startswith(BOTH) and place not in FILES_ALONE:
        found = available()
        chosen = [f"{_SERVER}{found[crc32(place.encode()) % len(found)]}"] if found else []
        metafunc.parametrize("engine", [SQLITE, *chosen], indirect=True)


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
        with _Databases(name.removeprefix(_SERVER)) as databases, pytest.MonkeyPatch.context() as patch:
            for module in (runtime, restore):
                patch.setattr(module, "open_engine", databases.open_engine)
            yield name
    finally:
        _current.pop()


class _Databases(ExitStack):
    """One database for each home of a test."""

    def __init__(self, version: str) -> None:
        super().__init__()
        self._version = version
        self._urls: dict[Path, str] = {}

    def open_engine(self, home: "Home", settings: "StorageSettings", clock: "Clock") -> "Engine":
        """Return the engine of a home, as if `storage.url` named its database."""
        from recollectum.storage.opening import open_engine

        return open_engine(home, replace(settings, url=settings.url or self._url(home.root)), clock)

    def _url(self, root: Path) -> str:
        if root not in self._urls:
            self._urls[root] = self.enter_context(database_on(self._version)).url()
        return self._urls[root]
