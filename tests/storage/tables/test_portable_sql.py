"""Every statement of the tables is in the subset that SQLite and PostgreSQL both read."""

import importlib
import pkgutil
import re
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import apsw
import pytest

from recollectum.domain.ids import system_clock
from recollectum.storage import tables
from recollectum.storage.engine import CATALOG, VAULT
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.dialect import to_sqlite
from recollectum.storage.sqlite.migrate import migrate, shipped

_STATEMENT = re.compile(r"\s*(?:SELECT|INSERT|UPDATE|DELETE|WITH)\b")
#: What one of the two engines cannot read, or reads differently.
FORBIDDEN = {
    "a JSON function": re.compile(r"\bjson_\w+\(|->"),
    "values joined by SQLite": re.compile(r"\bgroup_concat\("),
    "the order of a join by CROSS": re.compile(r"\bCROSS JOIN\b"),
    "a collation": re.compile(r"\bCOLLATE\b"),
    "an upsert of SQLite": re.compile(r"\b(?:INSERT|UPDATE) OR\b|\bREPLACE INTO\b"),
    "a pragma": re.compile(r"\bpragma", re.IGNORECASE),
    "SQLite's schema": re.compile(r"\bsqlite_\w+"),
    "SQLite's row number": re.compile(r"\browid\b"),
    "a hint to SQLite's planner": re.compile(r"\bINDEXED\b|\bGLOB\b|\bunlikely\("),
    "a parameter without a type": re.compile(r"(?<!AS )(?<!\()[\s(]:\w+ IS (?:NOT )?NULL"),
    "a maximum of two values": re.compile(r"\b(?:max|min)\([^()]*,"),
    "a number as a truth": re.compile(r"\binstr\((?:[^()]|\((?:[^()]|\([^()]*\))*\))*\)(?! > 0)"),
    "a limit below zero": re.compile(r"LIMIT -"),
}
#: Statements that stay as they are, with the reason.
EXCEPTIONS = {
    "trail.seals._COLUMNS": "seals are kept by triggers of SQLite; another engine has checksums of its own",
    "trail.seals._FOREIGN": "as above",
    "trail.seals._TABLES": "as above",
    "index.vectors._JOINED_AFTER": "an engine that encrypts each vector for itself cannot join them",
    "erasure.remaining_texts._IDENTIFIERS": "the search of a file for erased text knows the names in SQLite's schema",
}


def statements() -> Iterator[tuple[str, str]]:
    """Every statement of storage.tables by its module and name."""
    for found in pkgutil.walk_packages(tables.__path__, f"{tables.__name__}."):
        module = importlib.import_module(found.name)
        for name, value in vars(module).items():
            for place, text in _texts(value):
                if _STATEMENT.match(text):
                    yield f"{found.name.removeprefix(tables.__name__ + '.')}.{name}{place}", text


def family_of(name: str) -> str:
    """The kind of database that a statement is for."""
    return CATALOG if name.startswith(("catalog.", "erasure.erased.", "erasure.receipts.")) else VAULT


def _texts(value: object) -> Iterator[tuple[str, str]]:
    if isinstance(value, str):
        yield "", value
    elif isinstance(value, dict):
        held = cast("dict[object, object]", value)
        yield from ((f"[{key}]", one) for key, one in held.items() if isinstance(one, str))
    elif isinstance(value, tuple):
        listed = cast("tuple[object, ...]", value)
        yield from ((f"[{place}]", one) for place, one in enumerate(listed) if isinstance(one, str))


def faults(sql: str) -> list[str]:
    """What keeps a statement from being read by both engines alike."""
    found = [what for what, form in FORBIDDEN.items() if form.search(sql)]
    return found + (["a limit without an order"] if _limits_without_order(sql) else [])


def _limits_without_order(sql: str) -> bool:
    """Whether a LIMIT picks among rows whose order nobody gave; rows that are all `1` need none."""
    before = sql.partition("LIMIT")[0]
    return "LIMIT" in sql and "ORDER BY" not in before and not re.match(r"\s*SELECT 1\b(?!,)", sql)


def test_the_statements_are_found() -> None:
    assert len(dict(statements())) > 300


def test_every_statement_is_portable() -> None:
    wrong = [f"{name}: {', '.join(found)}" for name, sql in statements() if (found := faults(sql))]
    assert not [one for one in wrong if one.partition(":")[0] not in EXCEPTIONS], "\n".join(wrong)


def test_no_exception_outlives_its_need() -> None:
    assert not EXCEPTIONS.keys() - {name for name, sql in statements() if faults(sql)}


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value FROM json_each(:ids)",
        "SELECT extra ->> '$.copy_of' FROM messages",
        "SELECT 1 FROM a CROSS JOIN b ON a.id = b.id",
        "SELECT id FROM a WHERE name = :name COLLATE NOCASE",
        "INSERT OR REPLACE INTO a (id) VALUES (:id)",
        "SELECT id FROM a WHERE (:before IS NULL OR id < :before)",
        "SELECT id FROM a WHERE :before IS NULL OR id < :before",
        "UPDATE a SET at = max(at, :at)",
        "SELECT id FROM a WHERE instr(text, :piece)",
        "SELECT id FROM a LIMIT 8",
        "SELECT rowid FROM a",
    ],
)
def test_a_statement_for_one_engine_alone_is_found(sql: str) -> None:
    assert faults(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT value FROM texts(:ids)",
        "SELECT id FROM a WHERE (CAST(:before AS TEXT) IS NULL OR id < :before) ORDER BY id LIMIT :limit",
        "SELECT coalesce(max(number), 0) FROM a",
        "SELECT 1 FROM a WHERE instr(lower(coalesce(text, '')), :piece) > 0 LIMIT 1",
        "SELECT id FROM a WHERE expires_at IS NULL OR expires_at > :now",
    ],
)
def test_a_statement_for_both_is_let_through(sql: str) -> None:
    assert not faults(sql)


def _explained(connection: apsw.Connection, sql: str) -> list[str]:
    names = {name: None for name in re.findall(r":(\w+)", sql)}
    return [str(row[3]) for row in connection.execute(f"EXPLAIN QUERY PLAN {to_sqlite(sql)}", names)]


@pytest.mark.parametrize(
    ("name", "index"),
    [
        ("index.search._EVIDENCE", "chunks USING INTEGER PRIMARY KEY"),
        ("index.search_filters._OF_SOURCE", "chunks USING COVERING INDEX chunks_source"),
        ("index.search._EXISTING", "chunks USING INTEGER PRIMARY KEY"),
        ("index.search._SAID_IN", "messages USING COVERING INDEX messages_created"),
        ("index.search._SPEAKERS", "USING COVERING INDEX messages_speaker"),
        ("index.search._OF_SESSIONS", "messages USING"),
        ("index.hit_rows._DETAILS", "chunks USING INTEGER PRIMARY KEY"),
        ("index.search._TURNS", "messages USING INTEGER PRIMARY KEY"),
        ("content.memories._ALIKE", "memories USING INDEX"),
        ("content.memories._DUE", "memories USING"),
        ("content.memories._BY_KEY", "memories USING INDEX memories_key"),
        ("index.embedding_cache._EVICT", "embedding_cache USING"),
        ("learning.proposals._ABOUT", "proposal_items USING COVERING INDEX proposal_items_item"),
        ("learning.proposals._OF_SESSION", "proposal_items USING COVERING INDEX proposal_items_item"),
        ("learning.forgotten_spans._REMOVE", "barred USING PRIMARY KEY (message_id=?)"),
        (
            "erasure.erased_rows._FORGET_JOBS",
            "jobs USING INDEX sqlite_autoindex_jobs_2 (idempotency>? AND idempotency<?)",
        ),
        ("erasure.erased_rows._FORGET_NO", "proposal_items USING COVERING INDEX proposal_items_item"),
        ("content.sessions._IS_TAKEN_BACK", "quarantined USING PRIMARY KEY (item=?)"),
        ("trail.undo._BEFORE", "undo_rows USING INDEX undo_rows_memory (memory_id=? AND event=?)"),
    ],
)
def test_what_is_asked_often_goes_by_an_index(tmp_path: Path, name: str, index: str) -> None:
    database = SqliteDatabase(tmp_path / "vault.db", SqliteOptions())
    try:
        migrate(database, shipped(VAULT), clock=system_clock, backup=lambda _: None)
        plan = database.on_connection(lambda connection: _explained(connection, dict(statements())[name]))
    finally:
        database.close()
    assert any(index in line for line in plan), plan


def test_sqlite_reads_every_statement(tmp_path: Path) -> None:
    connections: dict[str, SqliteDatabase] = {}
    for family in (CATALOG, VAULT):
        database = SqliteDatabase(tmp_path / f"{family}.db", SqliteOptions())
        migrate(database, shipped(family), clock=system_clock, backup=lambda _: None)
        connections[family] = database
    try:
        for name, sql in statements():
            if "{" in sql:
                continue
            connections[family_of(name)].on_connection(lambda connection, sql=sql: _explained(connection, sql))
    finally:
        for database in connections.values():
            database.close()
