"""Moves vaults between files and a database while they are used, and last the catalog of a home that nobody uses.

A vault is in one place at every moment, and the catalog says where: see `storage.places`. The catalog follows when all
vaults are moved. Until the mark of its move is written it is where it was; from then on it is in the new place, and the
remaining steps can be repeated.
"""

import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field, replace
from datetime import timedelta
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Busy, Conflict, NotFound, StorageError
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.database_mark import forget_database, forget_split, mark_database, mark_split
from recollectum.home.files import make_private_folder
from recollectum.home.locks import Lock
from recollectum.home.move_mark import MoveMark, forget_mark, move_lock, one_move_lock, read_mark, write_mark
from recollectum.home.paths import Home
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.settings.edit import set_value, unset_value
from recollectum.settings.model import Settings
from recollectum.storage.catalog_mark import CatalogMarkFile, CountedCatalog
from recollectum.storage.copies import change_catalog, copy_name, remove_database
from recollectum.storage.copying.database_file import table_list
from recollectum.storage.engine import CATALOG, VAULT, Progress
from recollectum.storage.keystore import KeyStore
from recollectum.storage.opening import engine_of, routed_engine, set_files_aside
from recollectum.storage.places.vault_move import PATIENCE, VaultMove, side_of
from recollectum.storage.shared.key_place import CHANGES
from recollectum.storage.tables.catalog import vaults
from recollectum.storage.tables.catalog.vaults import StoragePlace, VaultEntry

#: How often the catalog is looked at again because somebody made a vault.
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
    #: Whose vaults; None moves all of them, and the catalog.
    owners: tuple[Owner, ...] | None = None

    @property
    def room(self) -> Path:
        """Return the folder of the files on their way; the same for each attempt, so that it can be continued."""
        return self.home.backups / ".moving"

    @property
    def target(self) -> StoragePlace:
        """Return where to."""
        return StoragePlace.DATABASE if self.url else StoragePlace.FILES


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveResult:
    """What a move did, or would do."""

    #: How many vaults were to be moved.
    vaults: int
    #: How many of them were not there already.
    copied: int
    #: Where the previous files are; the rows of a vault that left a database are deleted.
    kept: tuple[Path, ...] = ()
    #: Whether the catalog was moved too.
    catalog: bool = False


def move_home(move: Move, *, dry_run: bool = False, progress: Progress = lambda _: None) -> MoveResult:
    """Move vaults, or all of them and the catalog; with `dry_run`, check everything and copy nothing."""
    if move.target is StoragePlace.FILES and move.owners is None and move.settings.storage.keys_url:
        raise StorageError(
            f"the keys of {move.home.root} are in a keys database, which is for vaults in a database; bring them home "
            "first, with: recollectum encryption move-keys home"
        )
    with one_move_lock(move.home):
        mark = read_mark(move.home)
        if mark is not None:
            # The copy of the catalog is complete.
            done = MoveResult(vaults=len(mark.vault_ids), copied=0, catalog=True)
            with move_lock(move.home):
                return done if dry_run else _finished(move, mark, done)
        with _opened_keys(move) as keys:
            if dry_run:
                with _Journey(move, keys).opened() as journey:
                    return journey.plan()
            return _moved(move, keys, progress)


def _moved(move: Move, keys: KeyStore, progress: Progress) -> MoveResult:
    made = MoveResult(vaults=0, copied=0)
    for _ in range(_ROUNDS):
        with _Journey(move, keys).opened() as journey:
            step = journey.run(progress, is_first=not made.vaults)
            made = replace(step, copied=made.copied + step.copied, kept=(*made.kept, *step.kept))
            if move.owners is not None or journey.beside is move.target:
                journey.settle()
                return made
        with move_lock(move.home):
            mark = _CatalogMove(move, keys).run(made.vaults)
            if mark is not None:
                return _finished(move, mark, replace(made, catalog=True))
    raise Busy(f"somebody keeps making vaults in {move.home.root}; stop all programs, then move again")


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
        storage=settings.storage,
    )
    try:
        if keys.enabled:
            keys.unlock()
        yield keys
    finally:
        keys.close()


def _catalog_key(keys: KeyStore) -> bytes | None:
    return keys.key(CATALOG) if keys.has_key(CATALOG) else None


class _Journey:
    """The moves of single vaults, while others use the home."""

    def __init__(self, move: Move, keys: KeyStore) -> None:
        self._move = move
        self._keys = keys
        found = move.settings.storage
        if move.url and found.url and move.url != found.url:
            raise Conflict(f"the vaults of {move.home.root} are in another database already; move them to files first")
        storage = replace(found, url=move.url or found.url)
        self._engine = routed_engine(move.home, storage, move.clock, lambda: storage)
        #: Where the catalog is.
        self.beside = self._engine.places.beside

    @contextmanager
    def opened(self) -> "Generator[_Journey]":
        """Open the catalog while this is open."""
        raw = self._engine.open_catalog(_catalog_key(self._keys))
        self._catalog = CountedCatalog(raw, CatalogMarkFile(self._move.home), self._engine.place_of_catalog)
        try:
            with self._connected():
                self._settle_marked()
                yield self
        finally:
            self._catalog.close()

    @contextmanager
    def _connected(self) -> Generator[None]:
        """Keep the connections to the database, which would be closed after each step."""
        if not (self._move.url or self._engine.places.is_split()):
            yield
            return
        held = self._engine.places.at(StoragePlace.DATABASE).open_catalog(None)
        try:
            yield
        finally:
            held.close()

    def _settle_marked(self) -> None:
        """Tell the catalog of the vaults whose move was decided by a program that was killed before it did."""
        places = self._engine.places
        if not places.is_split():
            return
        for vault_id in {*places.main.vault_ids()} & {*places.at(self.beside.other).vault_ids()}:
            place = places.listed(vault_id)
            key = self._keys.key(vault_id) if self._keys.has_key(vault_id) else None
            if side_of(places, self._move.home, place).moves.is_moved(vault_id, key):
                places.settle(vault_id, place)

    def plan(self) -> MoveResult:
        """Return how many vaults are meant, and how many of them have to be copied."""
        entries = self._entries()
        self._check(entries)
        return MoveResult(vaults=len(entries), copied=len(self._elsewhere(entries)))

    def run(self, progress: Progress, *, is_first: bool) -> MoveResult:
        """Move the vaults that are not in the new place."""
        entries = self._entries()
        if is_first:
            self._check(entries)
        moving = self._elsewhere(entries)
        if moving and self.beside is StoragePlace.FILES and self._move.url:
            self._announce()
        means = self._means()
        kept: list[Path | None] = []
        for entry in moving:
            # Of a purge that runs now, the old file would keep what it has not erased yet; and a key must not change.
            purging = Lock(self._move.home.locks / f"purge-{entry.id}.lock", clock=self._move.clock)
            with purging, self._keys.place.lock(CHANGES):
                kept.append(means.run(entry, self._key(entry), progress).kept)
        # Those that were in use: their programs have had time to notice.
        end = time.monotonic() + PATIENCE.total_seconds()
        for entry in self._left(entries):
            left = timedelta(seconds=max(0.0, end - time.monotonic()))
            kept.append(means.clear(entry, self._key(entry), left))
        return MoveResult(vaults=len(entries), copied=len(moving), kept=tuple(filter(None, kept)))

    def _left(self, entries: Sequence[VaultEntry]) -> list[VaultEntry]:
        """Return the vaults that are in the new place, and of which something is left in the old one."""
        if not self._engine.places.is_split():
            return []
        there = set(self._engine.places.at(self._move.target.other).vault_ids())
        elsewhere = self._elsewhere(entries)
        return [entry for entry in entries if entry.id in there and entry not in elsewhere]

    def _key(self, entry: VaultEntry) -> bytes | None:
        return self._keys.key(entry.id) if entry.encrypted else None

    def settle(self) -> None:
        """Note in the home when all vaults are beside the catalog again."""
        if self.beside is StoragePlace.FILES and not self._catalog.read(vaults.places):
            if self._move.home.split_mark_file.exists():
                unset_value(self._move.home, _URL)
            forget_split(self._move.home)

    def _means(self) -> VaultMove:
        home, target = self._move.home, self._move.target
        make_private_folder(self._move.room)
        return VaultMove(
            source=side_of(self._engine.places, home, target.other),
            target=side_of(self._engine.places, home, target),
            catalog=self._catalog.uncounted,
            beside=self.beside,
            tables=table_list(self._move.room, VAULT, self._move.clock),
            terms=chunk_terms,
            clock=self._move.clock,
        )

    def _entries(self) -> list[VaultEntry]:
        everything = self._catalog.read(vaults.everything)
        if self._move.owners is None:
            return everything
        by_owner = {entry.owner: entry for entry in everything}
        for owner in self._move.owners:
            if owner not in by_owner:
                raise NotFound(f"there is no vault of {str(owner)!r} here; see: recollectum users list")
        return [by_owner[owner] for owner in dict.fromkeys(self._move.owners)]

    def _elsewhere(self, entries: Sequence[VaultEntry]) -> list[VaultEntry]:
        places = self._catalog.read(vaults.places) if self._engine.places.is_split() else {}
        return [entry for entry in entries if places.get(entry.id, self.beside) is not self._move.target]

    def _check(self, entries: Sequence[VaultEntry]) -> None:
        move = self._move
        is_done = move.owners is not None or self.beside is move.target
        if is_done and not self._elsewhere(entries) and not self._has_remains(entries):
            one = move.owners is not None and len(entries) == 1
            whose = f"the vault of {entries[0].owner} is" if one else f"the vaults of {move.home.root} are"
            where = "in a database" if move.url else "a file" if one else "files"
            raise Conflict(f"{whose} {where} already; name the other place with --to")
        if self.beside is StoragePlace.FILES and move.url:
            self._check_database()

    def _has_remains(self, entries: Sequence[VaultEntry]) -> bool:
        """Return whether a killed move left something to be done."""
        if not self._engine.places.is_split():
            return False
        if self.beside is StoragePlace.FILES and not self._catalog.read(vaults.places):
            # Nobody noted that all vaults are beside the catalog again.
            return True
        return bool(self._left(entries))

    def _check_database(self) -> None:
        """Refuse a database that has vaults of another home."""
        database = self._engine.places.at(StoragePlace.DATABASE)
        known = set(self._catalog.read(vaults.ids))
        if strange := set(database.vault_ids()) - known:
            raise Conflict(
                f"{database.place_of_catalog} has {len(strange)} vaults that this home has not; name an empty database"
            )

    def _announce(self) -> None:
        """Let other programs know of the second place, before the first vault is there."""
        home = self._move.home
        if not home.split_mark_file.exists():
            # A restored catalog may name the places of another home.
            self._catalog.write(vaults.gather)
            mark_split(home)
        set_value(home, _URL, self._move.url_setting)


class _CatalogMove:
    """The move of the catalog, after all vaults are in the new place; nobody else may use the home."""

    def __init__(self, move: Move, keys: KeyStore) -> None:
        storage = move.settings.storage
        url = move.url or storage.url
        self._move = move
        self._key = _catalog_key(keys)
        self._source = engine_of(move.home, replace(storage, url="" if move.url else url), move.clock)
        self._target = engine_of(move.home, replace(storage, url=move.url), move.clock)

    def run(self, count: int) -> MoveMark | None:
        """Copy the catalog; return the mark that decides the move, or None when there is a new vault to be moved."""
        if not self._source.is_unused(CATALOG, self._key):
            raise Busy(
                f"{count} vaults are moved, and the catalog is still in {self._source.place_of_catalog}, because "
                "another program uses it; the home works as it is; to move the catalog too, stop all programs and run "
                "the same command again"
            )
        file = self._copied()
        places = self._read_places()
        if any(place is not self._move.target for place in places.values()):
            return None
        gathering = self._move.room / "gathering"
        shutil.rmtree(gathering, ignore_errors=True)
        make_private_folder(gathering)
        change_catalog(file, gathering, self._key, self._move.clock, vaults.gather)
        if self._move.url:
            self._target.upkeep.put_vault(CATALOG, self._key, file, self._key, chunk_terms)
        mark = MoveMark(self._move.url_setting, ())
        write_mark(self._move.home, mark)
        return mark

    def _copied(self) -> Path:
        make_private_folder(self._move.room)
        file = self._move.room / copy_name(CATALOG)
        remove_database(file)
        self._source.upkeep.copy_catalog(self._move.room, self._key, lambda _: None)
        return file

    def _read_places(self) -> dict[str, StoragePlace]:
        catalog = self._source.open_catalog(self._key)
        try:
            places = catalog.read(vaults.places)
            return {one: places.get(one, self._move.target.other) for one in catalog.read(vaults.ids)}
        finally:
            catalog.close()


def _finished(move: Move, mark: MoveMark, made: MoveResult) -> MoveResult:
    """Take the remaining steps of a decided move, each of which can be repeated."""
    if mark.url:
        mark_database(move.home)
        set_value(move.home, _URL, mark.url)
        kept = set_files_aside(move.home, mark.vault_ids, move.clock())
        forget_split(move.home)
    else:
        files = engine_of(move.home, replace(move.settings.storage, url=""), move.clock)
        names = [copy_name(one) for one in (*mark.vault_ids, CATALOG)]
        waiting = [name for name in names if (move.room / name).exists()]
        kept = files.upkeep.put_home(move.room, waiting, {}, chunk_terms, move.clock())
        unset_value(move.home, _URL)
        forget_database(move.home)
    shutil.rmtree(move.room, ignore_errors=True)
    forget_mark(move.home)
    return replace(made, kept=(*made.kept, *kept))
