"""The two engines have the same tables and columns; the differences that are meant are listed here."""

import re
from pathlib import Path
from typing import NamedTuple

import psycopg
import pytest

from recollectum.domain.ids import system_clock
from recollectum.storage.engine import CATALOG, VAULT
from recollectum.storage.postgres import migrate as postgres_steps
from recollectum.storage.postgres.statements import KEPT_PLANS
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate, shipped
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.engines import administer

#: Tables of one engine alone, with the reason.
ONLY_SQLITE = {
    "seals": "PostgreSQL has checksums of its own",
    "search": "the full-text index is FTS5",
    "search_config": "a part of FTS5",
    "search_data": "a part of FTS5",
    "search_docsize": "a part of FTS5",
    "search_idx": "a part of FTS5",
    "sqlite_sequence": "the highest numbers ever used",
}
#: Which programs may go on beside a step: those of a file are upgraded with it.
ONLY_LEDGER = ("migrations", "oldest")
ONLY_POSTGRES = {
    CATALOG: {
        "catalog_writes": "a COMMIT in a file is always answered",
        "counters": "the highest numbers ever used",
        **dict.fromkeys(("home", "holder", "recovery", "vault_keys"), "on SQLite they are in keys.db"),
        "vault_state": "on SQLite a vault is a file",
    },
    VAULT: {"counters": "the highest numbers ever used", "search": "the full-text index is rows of terms"},
}
#: Texts of a vault that are not encrypted: ids, days, words of a fixed list, and what is hidden by `Tx.hide`.
PLAIN = {
    *(
        (table, "id")
        for table in (
            "sessions",
            "messages",
            "memories",
            "jobs",
            "runs",
            "erased",
            "quarantines",
            "imports",
            "proposals",
            "shell_commands",
        )
    ),
    *(("messages", name) for name in ("session_id", "role", "trust", "copy_of")),
    *(("memories", name) for name in ("kind", "trust", "message_id", "state", "supersedes", "superseded_by", "day")),
    *(("events", name) for name in ("type", "subject", "subject_id", "state")),
    *(("chunks", name) for name in ("source", "trust", "role")),
    *(("generations", name) for name in ("identity", "state")),
    *(("jobs", name) for name in ("kind", "subject", "idempotency", "state", "claim")),
    ("runs", "session_id"),
    *(("run_effects", name) for name in ("run_id", "act", "memory_id", "target_id")),
    *(("citations", name) for name in ("memory_id", "message_id", "run_id")),
    *((table, "session_id") for table in ("summaries", "checkpoints", "transcript_files", "imports", "proposals")),
    *(("undo_rows", name) for name in ("memory_id", "kind", "trust", "state", "supersedes", "superseded_by")),
    ("sweeps", "state"),
    ("quarantines", "went"),
    ("served_blocks", "source"),
    ("transcript_files", "form"),
    *(("barred", name) for name in ("message_id", "memory_id")),
    *(("memory_versions", name) for name in ("memory_id", "kind")),
    *(("quarantined", name) for name in ("item", "quarantine_id")),
    *((table, "purge_id") for table in ("purge_items", "purge_samples")),
    # Keyed digests.
    *(("purge_samples", name) for name in ("digest", "bits")),
    *(("proposals", name) for name in ("run_id", "act", "kind", "trust", "fingerprint", "decision", "memory_id")),
    *(("proposal_items", name) for name in ("proposal_id", "item")),
    ("meta", "name"),
    ("counters", "name"),
}
_TYPES = {"INT": "bigint", "INTEGER": "bigint", "TEXT": "text", "REAL": "double precision", "BLOB": "bytea"}

_COLUMNS = """
    SELECT table_name, column_name, data_type, is_nullable = 'NO', column_default, collation_name, domain_name
      FROM information_schema.columns WHERE table_schema = %s
"""
_KEYS = """
    SELECT t.relname, array(SELECT a.attname::text FROM unnest(k.conkey) WITH ORDINALITY AS c (n, place)
                              JOIN pg_attribute AS a ON a.attrelid = t.oid AND a.attnum = c.n ORDER BY place),
           k.contype::text, f.relname, k.confdeltype::text
      FROM pg_constraint AS k JOIN pg_class AS t ON t.oid = k.conrelid JOIN pg_namespace AS n ON n.oid = t.relnamespace
      LEFT JOIN pg_class AS f ON f.oid = k.confrelid
     WHERE n.nspname = %s AND k.contype IN ('p', 'u', 'f')
"""

#: The functions that an INSERT into a table runs, with their settings and their text.
_ON_INSERT = """
    SELECT p.proname::text, coalesce(p.proconfig::text[], '{}'), p.prosrc
      FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
     WHERE n.nspname = 'recollectum' AND (p.proname IN ('kept_number', 'next_number') OR p.oid IN (
           SELECT tgfoid FROM pg_trigger WHERE NOT tgisinternal AND tgtype & 4 <> 0))
"""
#: Generations are few.
_PLANNED_EACH_TIME = {"refuse_second_state"}


class Column(NamedTuple):
    type: str
    required: bool


Columns = dict[tuple[str, str], Column]
Keys = set[tuple[str, tuple[str, ...], str, str]]


def _on_sqlite(folder: Path, family: str) -> tuple[Columns, Keys]:
    database = SqliteDatabase(folder / f"{family}.db", SqliteOptions())
    try:
        migrate(database, shipped(family), clock=system_clock, backup=lambda _: None)
        return database.on_connection(_read_sqlite)
    finally:
        database.close()


def _read_sqlite(connection: object) -> tuple[Columns, Keys]:
    ask = getattr(connection, "execute")  # noqa: B009 - the types of apsw and of the port differ
    columns: Columns = {}
    keys: Keys = set()
    for (table,) in ask("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
        if table in ONLY_SQLITE:
            continue
        found = ask(f"PRAGMA table_info('{table}')").fetchall()
        columns |= {(table, row[1]): Column(_TYPES[row[2]], bool(row[3] or row[5])) for row in found}
        primary = tuple(row[1] for row in sorted(found, key=lambda row: row[5]) if row[5])
        keys |= {(table, primary, "p", "")} if primary else set()
        for _, index, _, origin, *_ in ask(f"PRAGMA index_list('{table}')").fetchall():
            if origin == "u":
                named = tuple(row[2] for row in ask(f"PRAGMA index_info('{index}')").fetchall())
                keys.add((table, named, "u", ""))
        links: dict[int, list[tuple[str, str, str]]] = {}
        for number, _, target, own, _, _, act, _ in ask(f"PRAGMA foreign_key_list('{table}')").fetchall():
            links.setdefault(number, []).append((own, target, act))
        for parts in links.values():
            act = "c" if parts[0][2] == "CASCADE" else "a"
            keys.add((table, tuple(own for own, _, _ in parts), f"f{act}", parts[0][1]))
    return columns, keys


def _on_postgres(database: PostgresDatabase, family: str) -> tuple[Columns, Keys]:
    schema = postgres_steps.SCHEMAS[family]
    only, in_vault = ONLY_POSTGRES[family], family == VAULT
    with psycopg.connect(database.administrator_url) as connection:
        columns: Columns = {
            (table, name): Column(kind, required)
            for table, name, kind, required, *_ in connection.execute(_COLUMNS, (schema,))
            if table not in only and not (in_vault and name == "vault") and (table, name) != ONLY_LEDGER
        }
        keys: Keys = {
            (table, tuple(names[1:] if in_vault else names), kind + (act if kind == "f" else ""), target or "")
            for table, names, kind, target, act in connection.execute(_KEYS, (schema,))
            if table not in only and table != "migrations"
        }
    return columns, keys


def _fits(place: tuple[str, str], type_: str, on_sqlite: str) -> bool:
    """Whether a column has the type it has on SQLite, or is encrypted."""
    return type_ == on_sqlite or (on_sqlite == "text" and type_ == "bytea" and place not in PLAIN)


@pytest.mark.parametrize("family", [CATALOG, VAULT])
def test_both_engines_have_the_same_tables_columns_and_keys(
    tmp_path: Path, postgres: PostgresDatabase, family: str
) -> None:
    columns, keys = _on_sqlite(tmp_path, family)
    other_columns, other_keys = _on_postgres(postgres, family)
    assert {place: one.required for place, one in other_columns.items()} == {
        place: one.required for place, one in columns.items()
    }
    wrong = {place for place, one in other_columns.items() if not _fits(place, one.type, columns[place].type)}
    assert not wrong
    assert other_keys == {key for key in keys if key[0] != "migrations"}


def test_every_text_is_compared_byte_by_byte(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url) as connection:
        for schema in postgres_steps.SCHEMAS.values():
            rows = connection.execute(_COLUMNS, (schema,)).fetchall()
            assert not [row[:2] for row in rows if row[2] == "text" and row[5] != "C"]


def test_every_text_of_a_vault_is_encrypted_or_listed_as_plain(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url) as connection:
        rows = connection.execute(_COLUMNS, ("recollectum",)).fetchall()
    assert {(row[0], row[1]) for row in rows if row[2] == "text" and row[0] != "migrations"} == PLAIN


def test_the_vault_of_a_row_fills_itself_in(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url) as connection:
        rows = connection.execute(_COLUMNS, ("recollectum",)).fetchall()
    tables = {row[0] for row in rows} - {"migrations"}
    filled = {row[0] for row in rows if row[1] == "vault" and "current_setting('recollectum.vault'" in str(row[4])}
    assert filled == tables


@pytest.mark.parametrize("family", [CATALOG, VAULT])
def test_both_engines_have_a_step_of_the_newest_number(family: str) -> None:
    newest = max(step.number for step in postgres_steps.shipped() if step.family == family)
    assert newest == shipped(family)[-1].number


def test_an_insert_plans_no_statement_of_its_triggers_again(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url) as connection:
        found = {name: (settings, text) for name, settings, text in connection.execute(_ON_INSERT)}
    counting = found.pop("next_number")[1]
    kept = {name for name, (settings, _) in found.items() if "plan_cache_mode=force_generic_plan" in settings}
    assert kept == found.keys() - _PLANNED_EACH_TIME
    # It runs for each row, where changing a setting would cost too much: it has no statement to plan.
    assert not re.search(r"\b(PERFORM|SELECT|INSERT|UPDATE)\b", counting)


_CHECKED = """
    SELECT k.conrelid::regclass::text, k.confrelid::regclass::text, count(*)
      FROM pg_constraint k JOIN pg_index i ON i.indrelid = k.confrelid
     WHERE k.contype = 'f' AND k.connamespace = 'recollectum'::regnamespace GROUP BY k.oid
"""


def test_an_insert_whose_plan_is_kept_is_checked_against_a_table_with_one_index_at_most(
    postgres: PostgresDatabase,
) -> None:
    found = {(table.removeprefix("recollectum."), count) for table, _, count in administer(postgres, _CHECKED)}
    assert {table for table, count in found if count == 1} & KEPT_PLANS == {"vectors"}
    assert not {table for table, count in found if count > 1} & KEPT_PLANS
