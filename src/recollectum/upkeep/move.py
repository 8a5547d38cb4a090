"""Moves vaults, or all of them and the catalog, between files and databases while programs use them.

A vault is in one place at every moment, and so is the catalog; see `storage.places`. Programs that have them open are
refused in the old place and go on in the new one. Each step can be repeated, so a killed move is continued.
"""

import shutil
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
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
from recollectum.home.move_mark import forget_mark, one_move_lock, read_mark, write_mark
from recollectum.home.paths import Home
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.settings.edit import set_value, unset_value
from recollectum.settings.model import Settings
from recollectum.storage.catalog_mark import CatalogMarkFile, CountedCatalog
from recollectum.storage.copying.database_file import table_list
from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.engine import CATALOG, VAULT, Progress
from recollectum.storage.keystore import KeyStore
from recollectum.storage.opening import routed_engine
from recollectum.storage.places.catalog_finding import catalog_at
from recollectum.storage.places.catalog_move import CatalogMove, clear_left_catalog
from recollectum.storage.places.file_moves import FileMoves
from recollectum.storage.places.vault_move import PATIENCE, VaultMove, check_apart, side_of
from recollectum.storage.places.vault_places import FILES, NamedPlace, place_at
from recollectum.storage.shared.choosing import check_keys_apart
from recollectum.storage.shared.key_place import CHANGES
from recollectum.storage.tables.catalog import catalog_changes, vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.abandoned_vaults import is_abandoned

#: How often the catalog is looked at again because somebody made a vault before it was moved.
_ROUNDS = 5
_PAUSE_SECONDS = 0.1
_URL, _SECOND_URL = "storage.url", "storage.second_url"


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
        """Return a folder for files that are made on the way."""
        return self.home.backups / ".moving"

    @property
    def target(self) -> NamedPlace:
        """Return where to."""
        return place_at(self.url)


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
    storage = move.settings.storage
    if not move.url and move.owners is None and storage.keys_url:
        raise StorageError(
            f"the keys of {move.home.root} are in a keys database, which is for vaults in a database; bring them home "
            "first, with: recollectum encryption move-keys home"
        )
    if move.url and storage.replica_url and storage.url not in ("", move.url):
        raise Conflict(
            "storage.replica_url names a standby of the database that the vaults leave; unset it first, and set it to "
            "a standby of the other one after the move"
        )
    with one_move_lock(move.home), _opened_keys(move) as keys, _Journey(move, keys).opened() as journey:
        return journey.plan() if dry_run else journey.run(progress)


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
    """One move of single vaults, or of all and the catalog, while others use the home."""

    def __init__(self, move: Move, keys: KeyStore) -> None:
        self._move = move
        self._keys = keys
        self._target = move.target
        self._storage = move.settings.storage
        self._engine = routed_engine(move.home, self._storage, move.clock, lambda: self._storage)
        self._places = self._engine.places

    @contextmanager
    def opened(self) -> "Generator[_Journey]":
        """Open the catalog while this is open."""
        raw = self._engine.open_catalog(_catalog_key(self._keys))
        self._catalog = CountedCatalog(raw, CatalogMarkFile(self._move.home), self._engine.place_of_catalog)
        try:
            # Finds the catalog, if a move that was killed has moved it.
            raw.read(catalog_changes.find)
            self._check_places()
            with self._connected():
                self._settle_marked()
                yield self
        finally:
            self._catalog.close()

    def _check_places(self) -> None:
        """Refuse a third place, and name the second one in the settings of this move."""
        move, beside, found = self._move, self._places.beside, self._storage
        # Files that programs still have open are no second place.
        is_split = move.home.split_mark_file.exists() or bool(self._catalog.read(vaults.places))
        if is_split and self._target not in (beside, self._places.other):
            raise Conflict(
                f"the vaults of {move.home.root} are in two places already; move all of them to one of these first, "
                "with: recollectum move"
            )
        is_second = move.url and found.url not in ("", move.url)
        self._storage = replace(found, second_url=move.url) if is_second else replace(found, url=found.url or move.url)
        if self._target != FILES and beside not in (FILES, self._target):
            check_apart(self._places, beside, self._target)
            check_keys_apart(move.home, replace(found, url=move.url), move.clock)

    @contextmanager
    def _connected(self) -> Generator[None]:
        """Keep the connections to the databases, which would be closed after each step."""
        places = {self._places.beside, self._target, *([self._places.other] if self._places.is_split() else [])}
        with ExitStack() as stack:
            for place in places - {FILES}:
                held = self._places.at(place).open_catalog(None)
                stack.callback(held.close)
            yield

    def _settle_marked(self) -> None:
        """Tell the catalog of the vaults whose move was decided by a program that was killed before it did."""
        places = self._places
        if not places.is_split():
            return
        for vault_id in {*places.main.vault_ids()} & {*places.at(places.other).vault_ids()}:
            place = places.listed(vault_id)
            key = self._keys.key(vault_id) if self._keys.has_key(vault_id) else None
            if side_of(places, place).moves.is_moved(vault_id, key):
                places.settle(vault_id, place)

    def plan(self) -> MoveResult:
        """Return how many vaults are meant, and how many of them have to be copied."""
        entries = self._entries()
        self._check(entries)
        return MoveResult(vaults=len(entries), copied=len(self._elsewhere(entries)))

    def run(self, progress: Progress) -> MoveResult:
        """Move the vaults that are not in the new place; of all vaults also the catalog."""
        self._check(self._entries())
        move, is_resumed = self._move, read_mark(self._move.home) is not None
        if move.owners is None:
            write_mark(move.home, move.url_setting)
        self._announce()
        done = self._move_vaults(progress)
        if move.owners is not None:
            self._settle()
            return done
        came_from = self._places.beside
        if came_from != self._target:
            self._move_catalog()
        for _ in range(_ROUNDS):
            if not self._elsewhere(self._entries()):
                break
            # Somebody made a vault before the catalog was moved; now they are made in the new place.
            more = self._move_vaults(progress)
            done = replace(more, copied=done.copied + more.copied, kept=(*done.kept, *more.kept))
        kept = self._finish(came_from)
        return replace(done, kept=(*done.kept, *kept), catalog=is_resumed or came_from != self._target)

    def _move_vaults(self, progress: Progress) -> MoveResult:
        entries = self._entries()
        moving = self._elsewhere(entries)
        kept: list[Path | None] = []
        make_private_folder(self._move.room)
        tables = table_list(self._move.room, VAULT, self._move.clock)
        for entry in moving:
            means = self._means(self._places.listed(entry.id), tables)
            # Of a purge that runs now, the old file would keep what it has not erased yet; and a key must not change.
            purging = Lock(self._move.home.locks / f"purge-{entry.id}.lock", clock=self._move.clock)
            with purging, self._keys.place.lock(CHANGES):
                kept.append(means.run(entry, self._key(entry), progress).kept)
        # Those that were in use: their programs have had time to notice.
        end = time.monotonic() + PATIENCE.total_seconds()
        for entry, place in self._left(entries):
            left = timedelta(seconds=max(0.0, end - time.monotonic()))
            kept.append(self._means(place, tables).clear(entry, self._key(entry), left))
        return MoveResult(vaults=len(entries), copied=len(moving), kept=tuple(filter(None, kept)))

    def _left(self, entries: Sequence[VaultEntry]) -> list[tuple[VaultEntry, NamedPlace]]:
        """Return the vaults that are in the new place, and of which something is left in the old one."""
        if not self._places.is_split():
            return []
        elsewhere = self._elsewhere(entries)
        found: list[tuple[VaultEntry, NamedPlace]] = []
        for place in {self._places.beside, self._places.other, FILES} - {self._target}:
            there = set(self._places.at(place).vault_ids())
            found += [(entry, place) for entry in entries if entry.id in there and entry not in elsewhere]
        return found

    def _key(self, entry: VaultEntry) -> bytes | None:
        return self._keys.key(entry.id) if entry.encrypted else None

    def _means(self, source: NamedPlace, tables: tuple[CopiedTable, ...]) -> VaultMove:
        return VaultMove(
            source=side_of(self._places, source),
            target=side_of(self._places, self._target),
            record=lambda vault_id, place: self._places.record(self._catalog.uncounted, vault_id, place),
            tables=tables,
            terms=chunk_terms,
            clock=self._move.clock,
        )

    def _move_catalog(self) -> None:
        """Move the catalog; the vaults that are not in the new place are in the other one for it."""
        move, places, key = self._move, self._places, _catalog_key(self._keys)
        if self._target == FILES:
            # For the vaults that are left; `storage.url` is still the address of their database.
            unset_value(move.home, _SECOND_URL)
            mark_split(move.home)
        means = CatalogMove(
            source=catalog_at(places, places.beside, key),
            target=catalog_at(places, self._target, key),
            numbers_from=side_of(places, places.beside).moves,
            numbers_to=side_of(places, self._target).moves,
            left=places.beside.kind,
            tables=self._catalog_tables(),
            room=move.room,
        )
        with self._keys.place.lock(CHANGES), closing(places.main.open_catalog(key)) as catalog:
            means.run(catalog)
        # Follows it.
        self._catalog.read(catalog_changes.find)

    def _catalog_tables(self) -> tuple[CopiedTable, ...]:
        make_private_folder(self._move.room)
        return table_list(self._move.room, CATALOG, self._move.clock)

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
        listed = self._places.all_listed() if self._places.is_split() else {}
        return [entry for entry in entries if listed.get(entry.id, self._places.beside) != self._target]

    def _check(self, entries: Sequence[VaultEntry]) -> None:
        move, beside = self._move, self._places.beside
        is_done = move.owners is not None or (beside == self._target and read_mark(move.home) is None)
        if is_done and not self._elsewhere(entries) and not self._has_remains(entries):
            one = move.owners is not None and len(entries) == 1
            whose = f"the vault of {entries[0].owner} is" if one else f"the vaults of {move.home.root} are"
            where = "in that database" if move.url else "a file" if one else "files"
            raise Conflict(f"{whose} {where} already; name another place with --to")
        if self._target not in (FILES, beside):
            self._check_database()

    def _has_remains(self, entries: Sequence[VaultEntry]) -> bool:
        """Return whether a killed move left something to be done."""
        if not self._places.is_split():
            return False
        # Or nobody noted that all vaults are beside the catalog again.
        return bool(self._left(entries)) or not self._catalog.read(vaults.places)

    def _check_database(self) -> None:
        """Refuse a database that has vaults of another home."""
        database, move = self._places.at(self._target), self._move
        end = time.monotonic() + PATIENCE.total_seconds()
        while strange := set(database.vault_ids()) - set(self._catalog.read(vaults.ids)):
            # Somebody may be making a vault, and the catalog was here when they began.
            if time.monotonic() < end:
                time.sleep(_PAUSE_SECONDS)
                continue
            others = [one for one in strange if not is_abandoned(database, self._keys, one, move.clock)]
            if not others:
                # `doctor` removes them.
                return
            raise Conflict(
                f"{database.place_of_catalog} has {len(others)} vaults that this home has not; name an empty database"
            )

    def _announce(self) -> None:
        """Let other programs know of the second place, before the first vault is in a database that is new to them."""
        home, beside = self._move.home, self._places.beside
        if self._target in (FILES, beside):
            return
        if not home.split_mark_file.exists():
            # A restored catalog may name the places of another home.
            self._catalog.write(vaults.gather)
        # The mark first: an address beside a catalog in a file is refused without it.
        mark_split(home)
        set_value(home, _URL if beside == FILES else _SECOND_URL, self._move.url_setting)

    def _settle(self) -> None:
        """Note in the home when all vaults are beside the catalog again."""
        home = self._move.home
        if home.split_mark_file.exists() and not self._catalog.read(vaults.places):
            unset_value(home, _URL if self._places.beside == FILES else _SECOND_URL)
            forget_split(home)

    def _finish(self, came_from: NamedPlace) -> list[Path]:
        """Note where everything is now; return where the previous catalog is kept."""
        move, home = self._move, self._move.home
        if self._catalog.read(vaults.places):
            raise Busy(f"somebody keeps making vaults of {home.root} in the old place; run the same command again")
        kept: list[Path | None] = []
        if move.url:
            mark_database(home)
            set_value(home, _URL, move.url_setting)
            if came_from not in (FILES, self._target):
                # For programs that have the previous address in their environment.
                set_value(home, _SECOND_URL, move.url_setting)
            with suppress(Busy):
                moves = FileMoves(home)
                kept.append(moves.clear_catalog(_catalog_key(self._keys), move.clock(), PATIENCE))
        else:
            unset_value(home, _URL)
            unset_value(home, _SECOND_URL)
            forget_database(home)
        for place in self._places.known():
            if place not in (FILES, self._target):
                clear_left_catalog(catalog_at(self._places, place, _catalog_key(self._keys)), self._catalog_tables())
        forget_split(home)
        shutil.rmtree(move.room, ignore_errors=True)
        forget_mark(home)
        return [path for path in kept if path]
