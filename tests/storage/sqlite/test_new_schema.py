"""A new vault gets its schema at once, and it is the one that the steps of earlier vaults lead to."""

from collections.abc import Mapping
from pathlib import Path

import apsw
import pytest

from recollectum.domain.ids import system_clock
from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import finished, finished_file, migrate, shipped
from tools.schema import schema_of

_KEY = bytes(range(32))


def _content(connection: apsw.Connection) -> Mapping[str, object]:
    """Everything in a file: its schema, and the rows of each table; the ledger without the time of each step."""
    schema = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
    tables = [str(name) for kind, name, _, sql in schema if kind == "table" and "VIRTUAL" not in str(sql)]
    rows = {name: sorted(connection.execute(f"SELECT * FROM {name}").fetchall()) for name in tables}
    rows["migrations"] = [row[:3] for row in rows["migrations"]]
    pragmas = {name: connection.pragma(name) for name in ("user_version", "application_id", "page_size")}
    return {"schema": sorted(map(str, schema)), **rows, **pragmas}


def _made(path: Path, key: bytes | None, schema: str | None) -> tuple[Mapping[str, object], int]:
    database = SqliteDatabase(path, SqliteOptions(key=key))
    try:
        steps = shipped(VAULT)
        assert migrate(database, steps, clock=system_clock, backup=str, schema=schema) == steps
        return database.on_connection(_content), database.on_connection(lambda one: one.pragma("page_count"))
    finally:
        database.close()


@pytest.mark.parametrize("key", [None, _KEY], ids=["plain", "encrypted"])
def test_a_new_vault_has_all_that_the_steps_lead_to_in_as_many_pages(tmp_path: Path, key: bytes | None) -> None:
    schema = finished(VAULT, shipped(VAULT))
    assert schema
    by_steps, pages = _made(tmp_path / "steps.db", key, None)
    at_once, pages_at_once = _made(tmp_path / "once.db", key, schema)
    assert at_once == by_steps
    assert pages_at_once <= pages


def test_the_schema_is_the_one_of_the_shipped_steps() -> None:
    assert finished_file(VAULT).read_text("utf-8") == schema_of(VAULT), "run: make docs"


def test_a_schema_of_other_steps_is_not_used() -> None:
    assert finished(VAULT, shipped(VAULT)[:-1]) is None
    assert finished("catalog", shipped("catalog")) is None
