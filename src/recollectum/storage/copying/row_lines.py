"""Writes the rows of a vault as lines of JSON, and makes a vault file from such lines, also from an older schema's."""

import base64
import binascii
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

import apsw

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged
from recollectum.domain.ids import Clock
from recollectum.home.paths import Home
from recollectum.settings.storage import StorageSettings
from recollectum.storage.copying.copied_tables import copied_tables
from recollectum.storage.copying.row_copier import CopiedTable, clear_rows, insert_rows, pages_of
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Row, Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, checkpoint
from recollectum.storage.sqlite.engine import SqliteEngine
from recollectum.storage.sqlite.migrate import finished, migrate, shipped
from recollectum.storage.tables.trail import meta

#: The lines of each table, by its name.
TableLines = Mapping[str, Iterable[str]]
#: The name of the field that holds a value of bytes.
_BYTES = "base64"
#: Rows per statement.
_PAGE = 512


def row_lines(tx: Tx, table: CopiedTable, keeps: Callable[[Row], bool], *, sort: bool) -> Iterator[str]:
    """Yield one line of JSON for each row, in the order of the key, or of the lines themselves.

    An encrypted key has another order on each engine, so the lines of such a table are sorted.
    """
    rows = (row for page in pages_of(tx, table) for row in page if keeps(row))
    lines = (_to_line(table.columns, row) for row in rows)
    yield from sorted(lines) if sort else lines


def make_vault(
    room: Path, vault_id: str, owner: Owner, key: bytes | None, *, schema: int, lines: TableLines, clock: Clock
) -> Path:
    """Make the file of a vault in a folder from the lines of its tables, which have the schema of that number."""
    engine = SqliteEngine(Home(room), StorageSettings(reserve_mib=0), clock)
    place = room / "vaults" / f"{vault_id}.db"
    database = SqliteDatabase(place, SqliteOptions(key=key, readers=1))
    try:
        steps = [step for step in shipped(VAULT) if step.number <= schema]
        migrate(database, steps, clock=clock, backup=lambda _: None, schema=finished(VAULT, steps))
        tables = database.on_connection(copied_tables)
        database.write(lambda tx: _fill(tx, tables, lines, owner))
        database.on_connection(checkpoint)
    except apsw.Error as error:
        raise Damaged(f"the rows of {owner} do not fit together ({error}); use another bundle") from error
    finally:
        database.close()
    # Opening it runs the steps that came after the bundle.
    engine.open_vault(vault_id, owner, key).close()
    return place


def change_vault(room: Path, vault_id: str, key: bytes | None, work: Callable[[Tx], object]) -> None:
    """Run `work` in one transaction of a vault file in a folder."""
    database = SqliteDatabase(room / "vaults" / f"{vault_id}.db", SqliteOptions(key=key, readers=1))
    try:
        database.write(work)
        database.on_connection(checkpoint)
    finally:
        database.close()


def _fill(tx: Tx, tables: Sequence[CopiedTable], lines: TableLines, owner: Owner) -> None:
    # A new file has rows that its schema steps made.
    clear_rows(tx, tables)
    for table in tables:
        rows = (_to_row(table, line) for line in lines.get(table.name, ()))
        while page := list(islice(rows, _PAGE)):
            insert_rows(tx, table, page)
    meta.save(tx, "owner", str(owner))


def _to_line(columns: Sequence[str], row: Row) -> str:
    named = {name: _to_json(value) for name, value in zip(columns, row, strict=True) if value is not None}
    return json.dumps(named, ensure_ascii=False, separators=(",", ":"), sort_keys=True)


def _to_json(value: object) -> object:
    return {_BYTES: base64.b64encode(value).decode("ascii")} if isinstance(value, bytes) else value


def _to_row(table: CopiedTable, line: str) -> Row:
    try:
        given = json.loads(line)
        if not isinstance(given, dict):
            raise TypeError("it is no object")
        named = cast("dict[str, Any]", given)
        if unknown := named.keys() - set(table.columns):
            raise TypeError(f"it has no column {min(unknown)!r}")
        return tuple(_from_json(named.get(name)) for name in table.columns)
    except (ValueError, TypeError, RecursionError, binascii.Error) as error:
        raise Damaged(
            f"a line of {table.name}.jsonl is not a row of that table ({error}); use another bundle"
        ) from None


def _from_json(value: object) -> object:
    if isinstance(value, dict):
        fields = cast("dict[str, object]", value)
        text = fields.get(_BYTES)
        if len(fields) != 1 or not isinstance(text, str):
            raise TypeError("it has a value that is no text, number or bytes")
        return base64.b64decode(text, validate=True)
    if isinstance(value, bool | list):
        raise TypeError("it has a value that is no text, number or bytes")
    return value
