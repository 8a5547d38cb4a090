"""Runs a test once for each engine: SQLite and every PostgreSQL server of this machine, encrypted and not."""

from collections.abc import Iterator

import pytest

from tests.plugins.postgres import available, database_on

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


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """A test on a server starts a program."""
    for item in items:
        called = getattr(item, "callspec", None)
        if called and str(called.params.get("engine_settings", "")).startswith(_SERVER):
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
