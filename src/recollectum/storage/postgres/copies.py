"""Copies the catalog and the vaults of a PostgreSQL database into ordinary files, and puts such files back."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, Damaged
from recollectum.domain.ids import Clock
from recollectum.storage.copying.copied_tables import last_numbers
from recollectum.storage.copying.database_file import CopiedRows, open_file, write_file
from recollectum.storage.copying.row_copier import CopiedTable, check_equal, clear_rows, copy_rows, digest_rows
from recollectum.storage.engine import CATALOG, VAULT, ChunkTerms, Engine, Progress, VaultCopy
from recollectum.storage.port import Database, Tx
from recollectum.storage.postgres import vault_rows
from recollectum.storage.postgres.sealing import values_under
from recollectum.storage.sqlite.files import CATALOG_FILE, name_in_backup
from recollectum.storage.tables.catalog import catalog_changes, vaults
from recollectum.storage.tables.trail import meta

#: Opens a vault under its key, without a check of its owner.
OpenUnchecked = Callable[[str, bytes | None], Database]
#: Its row is locked by every writer of the catalog, so it is changed and never deleted.
_CHANGES = "catalog_changes"


class PostgresCopies:
    """The copies of one database."""

    def __init__(
        self, engine: Engine, open_unchecked: OpenUnchecked, check_schema: Callable[[], None], clock: Clock
    ) -> None:
        self._engine = engine
        self._open = open_unchecked
        #: Raises unless the schema is exactly this program's.
        self._check_schema = check_schema
        self._clock = clock

    def write_catalog(self, folder: Path, key: bytes | None, progress: Progress) -> VaultCopy:
        """Write a file with the rows of the catalog."""
        database = self._engine.open_catalog(key)
        try:
            self._check_schema()
            return database.read(
                lambda tx: write_file(folder / CATALOG_FILE, CATALOG, key, _rows(tx, None), progress, self._clock)
            )
        finally:
            database.close()

    def write_vault(
        self, folder: Path, vault_id: str, key: bytes | None, terms: ChunkTerms, progress: Progress
    ) -> VaultCopy:
        """Write a file with the rows of one vault."""
        file = folder / name_in_backup(vault_id)
        database = self._open(vault_id, key)
        try:
            self._check_schema()
            made = database.read(lambda tx: write_file(file, VAULT, key, _rows(tx, terms), progress, self._clock))
        finally:
            database.close()
        return VaultCopy(file=name_in_backup(vault_id), schema=made.schema, rows=made.rows)

    def put_vault(
        self, vault_id: str, key: bytes | None, copy: Path, copy_key: bytes | None, terms: ChunkTerms
    ) -> None:
        """Replace the rows of a vault by those of a file, in one transaction; create a missing vault first."""
        with open_file(copy, VAULT, copy_key) as file:
            owner = file.database.read(lambda tx: meta.find(tx, "owner"))
            if owner is None:
                raise Damaged(f"{copy.name} does not name its owner; use another backup")
            is_new = not self.has_vault(vault_id)
            if is_new:
                self._engine.create_vault(vault_id, Owner.parse(owner), key, {})
            mark = values_under(key).mark
            self._forget_other_key(vault_id, mark)
            database = self._open(vault_id, key)
            try:
                self._check_schema()
                file.database.read(
                    lambda source: database.write(lambda target: _put_vault(source, target, file.tables, terms, mark))
                )
            except BaseException:
                if is_new:
                    self._engine.destroy_vault(vault_id)
                raise
            finally:
                database.close()

    def put_catalog(self, key: bytes | None, copy: Path, copy_key: bytes | None) -> None:
        """Replace the rows of the catalog by those of a file, in one transaction."""
        database = self._engine.open_catalog(key)
        try:
            self._check_schema()
            with open_file(copy, CATALOG, copy_key) as file:
                file.database.read(
                    lambda source: database.write(lambda target: _put_catalog(source, target, file.tables))
                )
        finally:
            database.close()

    def _forget_other_key(self, vault_id: str, mark: str) -> None:
        """Let rows be replaced that are encrypted under another key: from an earlier stay of the vault here."""
        database = self._open(vault_id, None)
        try:
            if database.read(vault_rows.find_key_mark) not in (None, mark):
                database.write(lambda tx: vault_rows.save_key_mark(tx, ""))
        finally:
            database.close()

    def has_vault(self, vault_id: str) -> bool:
        """Return whether a vault exists: one without a mark does not."""
        return bool(self._engine.write_marks([vault_id], timedelta())[vault_id])

    def check_empty(self) -> None:
        """Raise when the database belongs to a home: one with vaults in its catalog."""
        # Without a key: whether there are rows is no secret.
        database = self._engine.open_catalog(None)
        try:
            is_used = database.read(vaults.ids)
        finally:
            database.close()
        if is_used:
            raise Conflict(
                f"{self._engine.place_of_catalog} has vaults already; name an empty database, or restore single "
                "vaults into the home that uses it"
            )


def _rows(tx: Tx, terms: ChunkTerms | None) -> CopiedRows:
    return CopiedRows(tx=tx, numbers=vault_rows.last_numbers(tx), terms=terms(tx) if terms else None)


def _put_vault(source: Tx, target: Tx, tables: Sequence[CopiedTable], terms: ChunkTerms, key_mark: str) -> None:
    # Other processes keep the terms of the old chunks, and learn from the rows of the index what is gone.
    target.text.remove(vault_rows.indexed(target))
    clear_rows(target, tables)
    read = copy_rows(source, target, tables)
    target.text.add(terms(source))
    vault_rows.keep_last_numbers(target, _numbers(source, tables))
    vault_rows.save_key_mark(target, key_mark)
    check_equal(read, digest_rows(target, tables), "the database")


def _put_catalog(source: Tx, target: Tx, tables: Sequence[CopiedTable]) -> None:
    replaced = [table for table in tables if table.name != _CHANGES]
    clear_rows(target, replaced)
    read = copy_rows(source, target, replaced)
    catalog_changes.take_over(target, *catalog_changes.state(source))
    vault_rows.keep_last_numbers(target, _numbers(source, replaced))
    check_equal(read, digest_rows(target, replaced), "the catalog")


def _numbers(source: Tx, tables: Sequence[CopiedTable]) -> dict[str, int]:
    names = {table.name for table in tables}
    return {name: last for name, last in last_numbers(source).items() if name in names}
