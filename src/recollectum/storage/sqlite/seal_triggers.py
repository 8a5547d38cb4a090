"""Installs the triggers that store a checksum (seal) for every row that is written."""

import hashlib

import apsw

from recollectum.storage.tables.trail.seals import DIGEST, NUMBER, SOURCES, digest_of, number_of

_SIZE = 16

_WATCHED = "SELECT 1 FROM temp.sqlite_schema WHERE name = 'seal_memories_insert'"
_COLUMNS = "SELECT name FROM pragma_table_info(?, 'main') ORDER BY cid"
_KEEP = """
        INSERT INTO seals (source, number, digest) VALUES ('{name}', {new_number}, {new_digest})
            ON CONFLICT (source, number) DO UPDATE SET digest = excluded.digest;
"""
#: Temporary triggers: a file from elsewhere cannot bring any, and an encrypted vault pays nothing.
_ON_INSERT = f"CREATE TEMP TRIGGER seal_{{name}}_insert AFTER INSERT ON main.{{name}} BEGIN {_KEEP} END"
_ON_UPDATE = f"""
    CREATE TEMP TRIGGER seal_{{name}}_update AFTER UPDATE ON main.{{name}} BEGIN
        DELETE FROM seals WHERE ({{moved}}) AND source = '{{name}}' AND number = {{old_number}};
        {_KEEP}
    END
"""  # noqa: S608
_ON_DELETE = """
    CREATE TEMP TRIGGER seal_{name}_delete AFTER DELETE ON main.{name} BEGIN
        DELETE FROM seals WHERE source = '{name}' AND number = {old_number};
    END
"""
_TRIGGERS = {"insert": _ON_INSERT, "update": _ON_UPDATE, "delete": _ON_DELETE}


def register_functions(connection: apsw.Connection) -> None:
    """Register the SQL functions that compute a seal and a number for a row without one."""
    for name, function in ((DIGEST, _digest), (NUMBER, _number)):
        connection.create_scalar_function(name, function, -1, deterministic=True, flags=apsw.SQLITE_INNOCUOUS)


def install_triggers(connection: apsw.Connection, *, anew: bool) -> None:
    """Seal every row that this connection writes from now on, if the file is a vault that has seals.

    The triggers name the columns, so they must be installed again after a schema step.
    """
    if not anew and connection.execute(_WATCHED).fetchall():
        return
    if not connection.execute("SELECT 1 FROM main.sqlite_schema WHERE name = 'seals'").fetchall():
        return
    for name, keys in SOURCES.items():
        columns = [str(column) for (column,) in connection.execute(_COLUMNS, (name,))]
        if not columns:
            # The step that makes this table has not run yet.
            continue
        words = {
            "name": name,
            "new_number": number_of(keys, "new"),
            "old_number": number_of(keys, "old"),
            "new_digest": digest_of(columns, "new"),
            "moved": " OR ".join(f"old.{key} IS NOT new.{key}" for key in keys),
        }
        for event, sql in _TRIGGERS.items():
            connection.execute(f"DROP TRIGGER IF EXISTS temp.seal_{name}_{event}")
            connection.execute(sql.format(**words))


def _digest(*values: object) -> bytes:
    """Return the digest of a row's values; a null in a column added by a later version changes nothing."""
    last = len(values)
    while last and values[last - 1] is None:
        last -= 1
    # The output of `ascii` is the same in every version of Python, and differs for different values.
    return hashlib.blake2b(ascii(values[:last]).encode("ascii"), digest_size=_SIZE).digest()


def _number(*key: object) -> int:
    return int.from_bytes(_digest(*key)[:8], "big", signed=True)
