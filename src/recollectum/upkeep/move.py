"""Moves all vaults of a home from one engine to the other: copies, compares by digest, and only then changes over.

Until the mark of the move is written, the home is what it was, and a killed move is run again: what arrived is not
copied again. From the mark on the vaults are in the new place, and the remaining steps can be repeated.
"""

import shutil
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import timedelta
from pathlib import Path

from recollectum.domain.errors import Busy, Conflict, Damaged, StorageError, WrongKey
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.database_mark import forget_database, mark_database
from recollectum.home.files import make_private_folder
from recollectum.home.move_mark import MoveMark, forget_mark, move_lock, read_mark, write_mark
from recollectum.home.paths import Home
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.settings.edit import set_value, unset_value
from recollectum.settings.model import Settings
from recollectum.storage.copies import copy_name, entries_in, remove_database
from recollectum.storage.copying.database_file import open_file, table_list
from recollectum.storage.copying.row_copier import CopiedTable, TableDigest, digest_rows
from recollectum.storage.engine import CATALOG, VAULT, Progress
from recollectum.storage.keystore import KeyStore
from recollectum.storage.opening import engine_of, set_files_aside
from recollectum.storage.tables.catalog import vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry

#: How often a vault is copied again because somebody wrote to it.
_ROUNDS = 5
_URL = "storage.url"


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What to move where."""

    home: Home
    settings: Settings
    #: The address as it is stored in the settings, which may name a variable; empty for files.
    url_setting: str
    #: The address itself; empty for files.
    url: str = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)
    clock: Clock
    passphrase: str | None = field(default=None, repr=False)

    @property
    def room(self) -> Path:
        """Return the folder of the files on their way; the same for each attempt, so that it can be continued."""
        return self.home.backups / ".moving"


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveResult:
    """What a move did, or would do."""

    vaults: int
    #: How many of them were copied now; the others were equal already.
    copied: int
    #: The previous files; rows of a database stay where they are.
    kept: tuple[Path, ...] = ()


def move_home(move: Move, *, dry_run: bool = False, progress: Progress = lambda _: None) -> MoveResult:
    """Move every vault and the catalog; with `dry_run`, check everything and copy nothing."""
    with move_lock(move.home):
        mark = read_mark(move.home)
        if mark is not None:
            # The copies of an earlier call are complete.
            return _finished(move, mark, MoveResult(vaults=len(mark.vault_ids), copied=0), dry_run=dry_run)
        if bool(move.url) == bool(move.settings.storage.url):
            where = "in a database" if move.url else "files"
            raise Conflict(f"the vaults of {move.home.root} are {where} already; name the other place with --to")
        with _opened_keys(move) as keys:
            journey = _Journey(move, keys)
            if dry_run:
                return journey.plan()
            made, mark = journey.run(progress)
            write_mark(move.home, mark)
        return _finished(move, mark, made, dry_run=False)


@contextmanager
def _opened_keys(move: Move) -> Generator[KeyStore]:
    settings = move.settings
    keys = KeyStore.open(
        move.home,
        encryption=settings.encryption,
        key_file=settings.key_file,
        passphrase=move.passphrase,
        environ=move.environ,
        clock=move.clock,
    )
    try:
        if keys.enabled:
            keys.unlock()
        yield keys
    finally:
        keys.close()


class _Journey:
    """The copies of one move."""

    def __init__(self, move: Move, keys: KeyStore) -> None:
        self._move = move
        self._keys = keys
        self._source = engine_of(move.home, move.settings.storage, move.clock)
        self._target = engine_of(move.home, replace(move.settings.storage, url=move.url), move.clock)
        self._catalog_key = keys.key(CATALOG) if keys.has_key(CATALOG) else None
        if not self._source.is_unused(CATALOG, self._catalog_key):
            raise Busy(f"another program uses {self._source.place_of_catalog}; stop all of them, then move")
        make_private_folder(move.room / "vaults")
        self._tables: tuple[CopiedTable, ...] = table_list(move.room, VAULT, move.clock)

    def plan(self) -> MoveResult:
        """Return how many vaults there are, and how many of them have to be copied."""
        entries = self._entries()
        return MoveResult(vaults=len(entries), copied=sum(not self._is_there(entry) for entry in entries))

    def run(self, progress: Progress) -> tuple[MoveResult, MoveMark]:
        """Copy the vaults until all are equal, and then the catalog."""
        copied: set[str] = set()
        for _ in range(_ROUNDS):
            entries = self._entries()
            missing = [entry for entry in entries if not self._is_there(entry)]
            for entry in missing:
                self._copy(entry, progress)
                copied.add(entry.id)
            if not missing:
                if self._move.url:
                    file = self._move.room / copy_name(CATALOG)
                    self._target.upkeep.put_vault(CATALOG, self._catalog_key, file, self._catalog_key, chunk_terms)
                mark = MoveMark(self._move.url_setting, tuple(entry.id for entry in entries))
                return MoveResult(vaults=len(entries), copied=len(copied)), mark
        raise Busy(f"somebody keeps writing to {self._source.place_of_catalog}; stop all programs, then move again")

    def _entries(self) -> list[VaultEntry]:
        """Copy the catalog, and return the vaults that it lists."""
        file = self._move.room / copy_name(CATALOG)
        remove_database(file)
        self._source.upkeep.copy_catalog(self._move.room, self._catalog_key, lambda _: None)
        entries = entries_in(file, self._catalog_key)
        if self._move.url and (strange := self._listed() - {entry.id for entry in entries}):
            raise Conflict(
                f"{self._target.place_of_catalog} has {len(strange)} vaults that this home has not; "
                "name an empty database"
            )
        return entries

    def _listed(self) -> set[str]:
        """Return the vaults that the catalog of the database lists."""
        catalog = self._target.open_catalog(self._catalog_key)
        try:
            return set(catalog.read(vaults.ids))
        finally:
            catalog.close()

    def _key(self, entry: VaultEntry) -> bytes | None:
        return self._keys.key(entry.id) if entry.encrypted else None

    def _staged(self, entry: VaultEntry) -> Path:
        return self._move.room / copy_name(entry.id)

    def _is_there(self, entry: VaultEntry) -> bool:
        key = self._key(entry)
        arrived = self._arrived(entry, key)
        if arrived is None:
            return False
        with self._source.upkeep.inspect(entry.id, key) as vault:
            return vault.read(lambda tx: digest_rows(tx, self._tables)) == arrived

    def _arrived(self, entry: VaultEntry, key: bytes | None) -> dict[str, TableDigest] | None:
        if self._move.url:
            if not self._target.write_marks([entry.id], timedelta())[entry.id]:
                return None
            try:
                with self._target.upkeep.inspect(entry.id, key) as vault:
                    return vault.read(lambda tx: digest_rows(tx, self._tables))
            except (WrongKey, Damaged):
                # From an earlier stay there, before the vault got another key.
                return None
        if not self._staged(entry).exists():
            return None
        try:
            with open_file(self._staged(entry), VAULT, key) as file:
                return file.database.read(lambda tx: digest_rows(tx, self._tables))
        except StorageError:
            # A killed move left half a file.
            return None

    def _copy(self, entry: VaultEntry, progress: Progress) -> None:
        key, file = self._key(entry), self._staged(entry)
        remove_database(file)
        self._source.upkeep.copy_vault(self._move.room, entry.id, key, chunk_terms, progress)
        if self._move.url:
            self._target.upkeep.put_vault(entry.id, key, file, key, chunk_terms)
            remove_database(file)


def _finished(move: Move, mark: MoveMark, made: MoveResult, *, dry_run: bool) -> MoveResult:
    """Take the remaining steps of a decided move, each of which can be repeated."""
    if dry_run:
        return made
    if mark.url:
        mark_database(move.home)
        set_value(move.home, _URL, mark.url)
        kept = set_files_aside(move.home, mark.vault_ids, move.clock())
    else:
        files = engine_of(move.home, replace(move.settings.storage, url=""), move.clock)
        names = [copy_name(one) for one in (*mark.vault_ids, CATALOG)]
        waiting = [name for name in names if (move.room / name).exists()]
        kept = files.upkeep.put_home(move.room, waiting, {}, chunk_terms, move.clock())
        unset_value(move.home, _URL)
        forget_database(move.home)
    shutil.rmtree(move.room, ignore_errors=True)
    forget_mark(move.home)
    return replace(made, kept=tuple(kept))
