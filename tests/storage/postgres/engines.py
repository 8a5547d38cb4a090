"""Engines on the database of a test, and the servers' side of what they do."""

import os
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, LiteralString, cast

import psycopg

from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import system_clock
from recollectum.home.paths import Home, prepare
from recollectum.settings.storage import StorageSettings
from recollectum.storage.port import Database
from recollectum.storage.postgres.engine import PostgresEngine
from tests.plugins.postgres import PostgresDatabase

_PREPARED = "RECOLLECTUM_STORAGE__PREPARED_STATEMENTS"
ANN, BOB = Owner.parse("user:ann"), Owner.parse("user:bob")


def engine_of(folder: Path, url: str, **settings: float | str) -> PostgresEngine:
    """An engine for a new home in a folder."""
    home = Home(folder / "home")
    prepare(home)
    # Behind a pooler the plugin says so in the environment, as an operator would.
    prepared: Literal["on", "off"] = "off" if os.environ.get(_PREPARED) == "off" else "on"
    given = StorageSettings(url=url, prepared_statements=prepared)
    return PostgresEngine(home, replace(given, **settings), system_clock)


@contextmanager
def vault_of(engine: PostgresEngine, owner: Owner = ANN) -> Generator[Database]:
    """A new vault, open as long as the block."""
    vault_id = f"vlt_{owner.name}"
    engine.create_vault(vault_id, owner, None, {})
    database = engine.open_vault(vault_id, owner, None)
    try:
        yield database
    finally:
        database.close()


def administer(database: PostgresDatabase, statement: str) -> "list[tuple[Any, ...]]":
    """Run one statement as the server's administrator, and return its rows."""
    with psycopg.connect(database.administrator_url, autocommit=True) as connection:
        cursor = connection.execute(cast("LiteralString", statement))
        return cursor.fetchall() if cursor.description else []
