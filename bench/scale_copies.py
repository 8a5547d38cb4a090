"""Fills a database with many vaults, or one vault with many rows, by statements that copy rows inside the server.

Only for vaults that are not encrypted: a copy would not open under the key of another vault.
"""

from collections.abc import Mapping
from typing import Any, LiteralString, cast

import psycopg

from tests.plugins.postgres import PostgresDatabase

_COLUMNS = """
    SELECT table_name, array_agg(column_name::text ORDER BY ordinal_position) FROM information_schema.columns
     WHERE table_schema = 'recollectum' AND column_name <> 'vault' AND table_name IN (
           SELECT relname FROM pg_class WHERE relnamespace = 'recollectum'::regnamespace AND relrowsecurity)
     GROUP BY table_name
"""
#: Number k of the copies of a row in the same vault, where :step is how many rows each copy has.
_FURTHER: Mapping[str, Mapping[str, str]] = {
    "memories": {
        "number": "number + k * {step}",
        "id": "id || '.' || k",
        "fingerprint": "fingerprint || convert_to(k::text, 'UTF8')",
    },
    "chunks": {"number": "number + k * {step}", "source_number": "source_number + k * {step}"},
    "search": {"number": "number + k * {step}"},
    "vectors": {"chunk": "chunk + k * {step}"},
    "events": {"number": "number + k * {step}", "subject_id": "subject_id || '.' || k"},
}
_ADD_STATES = """
    INSERT INTO recollectum_catalog.vault_state (vault, vault_id, changes, last_write_at)
    SELECT n, 'copy' || n, changes, last_write_at
      FROM recollectum_catalog.vault_state, generate_series({first}, {last}) n WHERE vault = {source}
"""
_ADD_VAULTS = """
    INSERT INTO recollectum_catalog.vaults (owner, id, encrypted, created_at)
    SELECT '\\x00'::bytea || convert_to('user:copy' || n, 'UTF8'), 'copy' || n, 0, 0
      FROM generate_series({first}, {last}) n
"""


class VaultCopies:
    """A database whose rows an administrator copies; triggers stay out of it."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._connection: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            database.administrator_url, autocommit=True
        )
        self._run("SET session_replication_role = replica")
        self._run("SET search_path = recollectum")
        self._columns: dict[str, list[str]] = {str(row[0]): row[1] for row in self._run(_COLUMNS)}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def number_of(self, vault_id: str) -> int:
        """Return the number of a vault."""
        return int(self._run(f"SELECT vault FROM recollectum_catalog.vault_state WHERE vault_id = '{vault_id}'")[0][0])

    def add_vaults(self, source: int, count: int) -> None:
        """Add vaults with the rows of one, and list them in the catalog."""
        first = int(self._run("SELECT max(vault) + 1 FROM recollectum_catalog.vault_state")[0][0])
        between = {"first": first, "last": first + count - 1, "source": source}
        for statement in (_ADD_STATES, _ADD_VAULTS):
            self._run(statement.format(**between))
        for table, columns in self._columns.items():
            names = ", ".join(f'"{one}"' for one in columns)
            series = f"generate_series({first}, {first + count - 1}) n"
            self._run(
                f"INSERT INTO {table} (vault, {names}) SELECT n, {names} FROM {table}, {series} WHERE vault = {source}"
            )
        self._run("ANALYZE")

    def enlarge(self, vault: int, times: int) -> None:
        """Give a vault so many times its memories, each with its chunk, tokens, vector and event."""
        step = int(self._run(f"SELECT max(last) FROM counters WHERE vault = {vault}")[0][0])
        for table, changed in _FURTHER.items():
            columns = ["vault", *self._columns[table]]
            values = ", ".join(changed.get(one, f'"{one}"').format(step=step) for one in columns)
            names = ", ".join(f'"{one}"' for one in columns)
            series = f"generate_series(1, {times - 1}) k"
            self._run(f"INSERT INTO {table} ({names}) SELECT {values} FROM {table}, {series} WHERE vault = {vault}")
        self._run(f"UPDATE counters SET last = last * {times} WHERE vault = {vault} AND name <> 'generations'")
        self._run(f"UPDATE generations SET done = done * {times} WHERE vault = {vault}")
        self._run(f"UPDATE recollectum_catalog.vault_state SET changes = changes + 1 WHERE vault = {vault}")
        self._run("ANALYZE")

    def note_rounds(self, name: str, next_at: int) -> None:
        """Record a round as made in every copied vault, and due again at a later time."""
        self._run(
            "INSERT INTO recollectum_catalog.rounds (name, vault, every_seconds, started_at, finished_at, next_at, "
            f"failures, counts, seen) SELECT '{name}', v.id, 3600, 1, 1, {next_at}, 0, '{{}}', s.changes::text "
            "FROM recollectum_catalog.vaults v JOIN recollectum_catalog.vault_state s ON s.vault_id = v.id "
            "WHERE v.id LIKE 'copy%'"
        )
        self._run("ANALYZE")

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(cast("LiteralString", statement))
        return cursor.fetchall() if cursor.description else []
