"""Rewrites the rows of a vault under another key, in one transaction, and reads every value of them back.

Readers see the old rows or the new ones. The row of the vault names the key, so a process that has the old one notices.
"""

from collections.abc import Callable, Iterator, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from recollectum.domain.errors import Damaged
from recollectum.storage.copying.row_copier import STAND_INS, Meter, digest_page
from recollectum.storage.engine import Engine, Progress, VaultRewriting
from recollectum.storage.port import Row
from recollectum.storage.postgres import vault_rows
from recollectum.storage.postgres.database import PostgresDatabase
from recollectum.storage.postgres.row_arrays import Array, array_of
from recollectum.storage.postgres.sealing import PlainValues, values_under
from recollectum.storage.postgres.transaction import PostgresTx, make_durable
from recollectum.storage.tables.trail import meta

_BYTES, _TEXT = 17, 25
#: Rows per page; each may be as large as a message.
_PAGE = 256
_COLUMNS = """
    SELECT c.relname::text, a.attname::text, t.typname::text
      FROM pg_class c
      JOIN pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      JOIN pg_type t ON t.oid = a.atttypid
     WHERE n.nspname = 'recollectum' AND c.relkind = 'r' AND c.relrowsecurity
     ORDER BY c.relname, a.attnum
"""
#: Names that another table refers to: both change in one statement, at whose end the reference is checked.
_REFERENCES = {("note_folders", "path"): ("notes", "folder")}
#: Whether the server may use indexes. Without them it finds a row by its place, however small it believes a table is.
_BY_INDEX = "SELECT set_config('enable_indexscan', $1, true), set_config('enable_bitmapscan', $1, true)"
#: Gives a value of one column its new stored form.
Recode = Callable[[Any], Any]


class _Column(NamedTuple):
    """A column whose values are encrypted, or stand in for texts."""

    name: str
    #: The oid of the type of its values.
    type: int
    recode: Recode


class _Table(NamedTuple):
    """A table with such columns."""

    name: str
    columns: tuple[_Column, ...]


class PostgresRewriting:
    """The vaults of one database; see `storage.engine.VaultRewriting`."""

    def __init__(
        self, engine: Engine, files: VaultRewriting, open_rows: Callable[[str, bytes | None], PostgresDatabase]
    ) -> None:
        self._engine = engine
        #: Files of the same vaults, from before they were moved to the database.
        self._files = files
        self._open = open_rows

    def rewrite(
        self, vault_id: str, key: bytes, new_key: bytes, progress: Progress, check: Callable[[], None] = lambda: None
    ) -> None:
        """Encrypt every value of a vault under another key; readers see that at once, and writers wait for it."""
        old, new = values_under(key), values_under(new_key)

        def change(tx: PostgresTx) -> None:
            # The row of the vault is locked: another host settles before this, or after the COMMIT.
            check()
            _rewrite(tx, old, new, progress)

        self._write(vault_id, change)

    def is_opened_by(self, vault_id: str, key: bytes) -> bool:
        """Return whether the rows of a vault are encrypted under a key."""
        if not self._exists(vault_id):
            return False
        # Without a key: nothing of it is decrypted, or compared with the mark.
        database = self._open(vault_id, None)
        try:
            stored = database.read(vault_rows.find_key_mark)
        finally:
            database.close()
        return stored == values_under(key).mark if stored else self._decrypts(vault_id, key)

    def settle(self, vault_id: str, new_key: bytes, remove: Callable[[], None]) -> bool:
        """Wait until no transaction writes to a vault: that of a killed process may still be committed.

        A rewrite puts the mark of the new key into the row of the vault, which is locked here.
        """
        is_new = False

        def look(tx: PostgresTx) -> None:
            nonlocal is_new
            # Confirmed by the standbys that the server waits for.
            make_durable(tx)
            is_new = vault_rows.find_key_mark(tx) == values_under(new_key).mark
            if not is_new:
                remove()

        if self._exists(vault_id):
            self._write(vault_id, look)
        else:
            remove()
        return is_new

    def room_for(self, vault_id: str) -> int:  # noqa: ARG002 - the rows are on the disk of the server
        """Return none."""
        return 0

    def copies(self, vault_id: str) -> list[Path]:
        """Return the files of a vault in the backups that only its key opens: those that a move set aside."""
        return self._files.copies(vault_id)

    def rewrite_copy(self, copy: Path, key: bytes, new_key: bytes, progress: Progress) -> None:
        """Rewrite such a file in one step."""
        self._files.rewrite_copy(copy, key, new_key, progress)

    def _exists(self, vault_id: str) -> bool:
        return bool(self._engine.write_marks([vault_id], timedelta())[vault_id])

    def _decrypts(self, vault_id: str, key: bytes) -> bool:
        """Return whether a key decrypts a vault from before keys had marks."""
        database = self._open(vault_id, key)
        try:
            return database.read(lambda tx: meta.find(tx, "owner")) is not None
        except Damaged:
            return False
        finally:
            database.close()

    def _write(self, vault_id: str, work: Callable[[PostgresTx], object]) -> None:
        if self._exists(vault_id):
            database = self._open(vault_id, None)
            try:
                database.write(work)
            finally:
                database.close()


def _rewrite(tx: PostgresTx, old: PlainValues, new: PlainValues, progress: Progress) -> None:
    make_durable(tx)
    meter = Meter(progress)
    read = {table.name: _rewrite_table(tx, table, old, meter) for table in _tables(tx, old, new)}
    for (table, column), (other, reference) in _REFERENCES.items():
        _rewrite_names(tx, table, column, other, reference, lambda value: new.seal_equal(old.unseal(value)))
    vault_rows.save_key_mark(tx, new.mark)
    for table in _tables(tx, old, new):
        written = sum(_digest(table, page, new, meter) for page in _pages(tx, table, "read_back"))
        if written != read[table.name]:
            raise Damaged(f"{table.name} under a new key is not what was read, so the vault was left as it is")


def _tables(tx: PostgresTx, old: PlainValues, new: PlainValues) -> list[_Table]:
    """Return what is to be rewritten in each table; the schema says what is encrypted, and how."""
    ways: dict[str, Recode] = {
        "sealed": lambda value: new.seal(old.unseal(value)),
        "bytea": lambda value: new.seal_equal(old.unseal(value)),
    }
    found: dict[str, list[_Column]] = {}
    for table, column, type_ in tx.send(_COLUMNS).fetchall():
        beginnings = STAND_INS.get((table, column))
        if beginnings:
            made = _Column(column, _TEXT, partial(_with_stand_in, beginnings=beginnings, show=old.show, hide=new.hide))
        elif type_ in ways:
            made = _Column(column, _BYTES, ways[type_])
        else:
            continue
        found.setdefault(table, []).append(made)
    return [_Table(name, tuple(columns)) for name, columns in found.items()]


def _with_stand_in(
    text: str, beginnings: Sequence[str], show: Callable[[str], str], hide: Callable[[str], str] = str
) -> str:
    beginning = next((one for one in beginnings if text.startswith(one)), None)
    if beginning is None or text == beginning:
        return text
    return beginning + hide(show(text.removeprefix(beginning)))


def _rewrite_table(tx: PostgresTx, table: _Table, old: PlainValues, meter: Meter) -> int:
    """Rewrite the values of a table, but for names that others refer to; return the digest of what was read."""
    together = {*_REFERENCES, *_REFERENCES.values()}
    places = [place for place, one in enumerate(table.columns) if (table.name, one.name) not in together]
    statement = _update(table, places)
    total = 0
    for page in _pages(tx, table, "rewritten"):
        # The pages themselves were planned when the first was asked for.
        tx.send(_BY_INDEX, ["off"])
        total += _digest(table, page, old, meter)
        changed: list[Array] = [array_of(_TEXT)([row[0] for row in page])]
        for place in places:
            _, type_, recode = table.columns[place]
            values = [row[place + 1] for row in page]
            changed.append(array_of(type_)([None if one is None else recode(one) for one in values]))
        if places and tx.send(statement, changed).rowcount != len(page):
            raise Damaged(f"rows of {table.name} changed while they were rewritten, so the vault was left as it is")
    tx.send(_BY_INDEX, ["on"])
    return total


def _update(table: _Table, places: Sequence[int]) -> str:
    """Return the statement that changes a page of rows, which are found by where they are stored.

    Nobody moves them: other writers of the vault wait, and the table is locked against being rewritten as a whole.
    """
    names = [f'"{table.columns[place].name}"' for place in places]
    types = [array_of(table.columns[place].type).name for place in places]
    arrays = ", ".join(f"${place}::{type_}[]" for place, type_ in enumerate(("text", *types), start=1))
    listed = "".join(f", {name}" for name in names)
    # OFFSET 0 keeps the cast apart: it is not leakproof, and would hide the place of a row from the planner.
    given = f"unnest({arrays}) AS one (row_place{listed})"
    source = f"SELECT row_place::tid AS row_place{listed} FROM {given} OFFSET 0"  # noqa: S608 - names of our schema
    changed = ", ".join(f"{name} = given.{name}" for name in names)
    return f'UPDATE "{table.name}" AS kept SET {changed} FROM ({source}) AS given WHERE kept.ctid = given.row_place'  # noqa: S608 - see above


def _rewrite_names(tx: PostgresTx, table: str, column: str, other: str, reference: str, recode: Recode) -> None:
    names = [row[0] for row in tx.send(f'SELECT "{column}" FROM "{table}"').fetchall()]  # noqa: S608 - see above
    arrays = [array_of(_BYTES)(names), array_of(_BYTES)([recode(one) for one in names])]
    given = "WITH given AS (SELECT old, new FROM unnest($1::bytea[], $2::bytea[]) AS one (old, new) OFFSET 0)"
    changed = f'changed AS (UPDATE "{table}" SET "{column}" = new FROM given WHERE "{column}" = old)'  # noqa: S608 - see above
    referring = f'UPDATE "{other}" SET "{reference}" = new FROM given WHERE "{reference}" = old'  # noqa: S608 - see above
    tx.send(f"{given}, {changed} {referring}", arrays)


def _pages(tx: PostgresTx, table: _Table, purpose: str) -> Iterator[list[Row]]:
    """Yield the place and the values of each row, as they are when the first is read."""
    cursor = f'"{purpose}_{table.name}"'
    columns = ", ".join(f'"{one.name}"' for one in table.columns)
    tx.send(f'DECLARE {cursor} NO SCROLL CURSOR FOR SELECT ctid::text, {columns} FROM "{table.name}"')  # noqa: S608 - see above
    while page := tx.send(f"FETCH {_PAGE} FROM {cursor}").fetchall():
        yield page
    tx.send(f"CLOSE {cursor}")


def _digest(table: _Table, page: Sequence[Row], values: PlainValues, meter: Meter) -> int:
    """Return a digest of what the values of some rows mean, for which they are all decrypted."""
    meter.count(page)
    shown = [_shown(table, column, values) for column in table.columns]
    return digest_page(
        tuple(None if one is None else show(one) for show, one in zip(shown, row[1:], strict=True)) for row in page
    )


def _shown(table: _Table, column: _Column, values: PlainValues) -> Recode:
    if column.type == _BYTES:
        return values.unseal
    beginnings = STAND_INS[table.name, column.name]
    return partial(_with_stand_in, beginnings=beginnings, show=values.show)
