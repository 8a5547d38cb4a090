"""Repairs a damaged vault file: salvages its rows into a new file and keeps the old one unchanged."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, KeyProblem, StorageError
from recollectum.domain.ids import Clock
from recollectum.home.files import PRIVATE_FILE, explain, make_private_folder, sync_folder
from recollectum.home.paths import Home
from recollectum.storage.engine import VAULT, SalvagedVault
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.connection import PAGE_BYTES, connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, checkpoint
from recollectum.storage.sqlite.files import evidence_folder, log_of, with_logs
from recollectum.storage.sqlite.integrity import page_faults, step_of
from recollectum.storage.sqlite.migrate import finished, migrate, shipped
from recollectum.storage.sqlite.recovery.salvage import (
    copy_raw,
    copy_schema_pages,
    delete_orphans,
    first_schema_page,
    restore_references,
    salvage,
)
from recollectum.storage.tables.content import sessions
from recollectum.storage.tables.learning import profiles
from recollectum.storage.tables.trail import health, meta, seals

#: Tables that are rebuilt from others, or filled by the schema steps.
DERIVED = frozenset(
    (
        "chunks",
        "generations",
        "vectors",
        "embedding_cache",
        "coarse",
        "coarse_middles",
        "coarse_lists",
        "migrations",
        # Of schemas before 21; later ones have them in meta.
        "profiles",
        "served_blocks",
    )
)
#: Those of new vaults and of old ones.
_PAGE_SIZES = (PAGE_BYTES, 4096)
#: A repair reads and writes the whole vault several times.
_CACHE_KIB = 64 * 1024


def repair_file(
    home: Home,
    path: Path,
    owner: Owner,
    key: bytes | None,
    *,
    release: Callable[[], bool],
    rebuild: Callable[[Tx], int],
    clock: Clock,
) -> SalvagedVault:
    """Salvage one vault file; raise when another program has it open.

    All work is done on copies. When the new file is complete, one rename puts it in the place of the old one.
    """
    evidence = evidence_folder(home, path.stem, clock())
    work = home.backups / f".{os.urandom(6).hex()}-repairing"
    try:
        make_private_folder(work)
        before = _marks(path)
        _copy_as_it_is(path, evidence)
        made = _salvaged(owner, evidence / path.name, work, key, rebuild, clock)
        # A program that has the old file open would go on writing to it, and a write since the copy is not in the new
        # file.
        if _marks(path) != before or not release():
            raise StorageError(f"another program uses the vault of {owner}; stop it, then run the repair again")
        _put(work / "new.db", path)
    except BaseException as error:
        # The old file is still in place, so a copy of it is of no use.
        shutil.rmtree(evidence, ignore_errors=True)
        if isinstance(error, OSError):
            raise explain(error, work) from error
        raise
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return made


def _marks(path: Path) -> list[tuple[int, int]]:
    """Return the size and time of the database and its log, which a write changes."""
    parts = (path, log_of(path))
    return [(found.st_size, found.st_mtime_ns) for found in (part.stat() for part in parts if part.exists())]


def _copy_as_it_is(path: Path, evidence: Path) -> None:
    """Copy the database and its log byte for byte."""
    for part in (path, log_of(path)):
        if part.exists() and part.stat().st_size:
            copy_raw(part, evidence / part.name)
    sync_folder(evidence)


def _salvaged(
    owner: Owner, evidence: Path, work: Path, key: bytes | None, rebuild: Callable[[Tx], int], clock: Clock
) -> SalvagedVault:
    old, new = work / "old.db", work / "new.db"
    for part, copy in ((evidence, old), (log_of(evidence), log_of(old))):
        if part.exists():
            # SQLite moves the log into a file that it opens, and the evidence must not change.
            shutil.copyfile(part, copy)
            copy.chmod(PRIVATE_FILE)
    options = SqliteOptions(key=key, readers=1, cache_kib=_CACHE_KIB)
    number = _schema_of(old, key)
    if number is None:
        number = shipped(VAULT)[-1].number
        copy_schema_pages(_donor(clock, work, options, old), old, key=key)
        _refuse_what_cannot_be_opened(old, key)
    _make(clock, new, options, number)
    tables = salvage(old, new, key=key, skip=DERIVED)
    database = SqliteDatabase(new, options)
    try:
        # Run the remaining steps, so that the rows have the schema of this program.
        migrate(database, shipped(VAULT), clock=clock, backup=lambda _: None)
        # Before the repairs below, which change rows as well.
        doubtful = database.read(_doubtful)
        stand_ins = database.write(sessions.add_missing)
        database.write(lambda tx: meta.save(tx, "owner", str(owner)))
        database.write(lambda tx: health.note_repair(tx, clock()))
    finally:
        database.close()
    parentless, strays = delete_orphans(new, key=key), restore_references(new, key=key)
    dropped = {table: parentless.get(table, 0) + strays.get(table, 0) for table in {*parentless, *strays}}
    return SalvagedVault(
        # The seals served to find doubtful rows, and are rebuilt.
        tables=tuple(one for one in tables if one.table != "seals"),
        dropped=dropped,
        stand_ins=stand_ins,
        pieces=_rebuilt(new, options, rebuild),
        doubtful=doubtful,
        evidence=evidence.parent,
    )


def _doubtful(tx: Tx) -> tuple[str, ...]:
    """Return the rows whose seal is lost or does not match."""
    return tuple(sorted({f"{table} {known}" for table, known in seals.changed(tx)}))


def _donor(clock: Clock, work: Path, options: SqliteOptions, damaged: Path) -> Path:
    """Create a vault that has its tables at the same pages as the damaged one.

    The first page says where the others of the schema are. It tells whether the vault was made by the finished schema,
    or step by step as in earlier releases.
    """
    steps, size = shipped(VAULT), _page_bytes(damaged)
    at_once, by_steps = work / "donor-at-once.db", work / "donor-by-steps.db"
    if size == PAGE_BYTES:
        _make(clock, at_once, options, steps[-1].number, schema=finished(VAULT, steps))
        if first_schema_page(at_once, size, options.key) == first_schema_page(damaged, size, options.key):
            return at_once
    _make(clock, by_steps, options, steps[-1].number, size=size)
    return by_steps


def _make(
    clock: Clock,
    path: Path,
    options: SqliteOptions,
    number: int,
    *,
    size: int = PAGE_BYTES,
    schema: str | None = None,
) -> None:
    """Create a vault at the schema of the damaged one."""
    connect(path, key=options.key, page_bytes=size).close()
    database = SqliteDatabase(path, options)
    try:
        # Vaults with pages of another size were made before comments were left out of the schema.
        compact, steps = size == PAGE_BYTES, shipped(VAULT)[:number]
        migrate(database, steps, clock=clock, backup=lambda _: None, compact=compact, schema=schema)
    finally:
        database.close()


def _page_bytes(damaged: Path) -> int:
    """Return the page size from the header, which an encrypted file shows too; the default where it is damaged."""
    with damaged.open("rb") as file:
        size = int.from_bytes(file.read(18)[16:], "big")
    return size if size in _PAGE_SIZES else PAGE_BYTES


def _schema_of(old: Path, key: bytes | None) -> int | None:
    """Return the schema step of the damaged file, the newest if it cannot be read, or None if it does not open."""
    try:
        connection = connect(old, key=key)
    except (Damaged, KeyProblem):
        return None
    try:
        return step_of(connection, shipped(VAULT)[-1].number)
    finally:
        connection.close(True)


def _refuse_what_cannot_be_opened(old: Path, key: bytes | None) -> None:
    if _schema_of(old, key) is None:
        raise Damaged(
            "the first page of the vault, which says where all others are, cannot be read, so nothing can be salvaged; "
            "restore a backup with: recollectum restore"
        )


def _rebuilt(new: Path, options: SqliteOptions, rebuild: Callable[[Tx], int]) -> int:
    def remake(tx: Tx) -> int:
        profiles.drop_all(tx)
        seals.clear(tx)
        if options.key is None:
            seals.seal(tx)
        return rebuild(tx)

    database = SqliteDatabase(new, options)
    try:
        pieces = database.write(remake)
        if faults := database.on_connection(page_faults):
            raise Damaged(f"the salvaged vault is not whole ({faults[0]}), so the old one was left in place")
        database.on_connection(checkpoint)
        return pieces
    finally:
        database.close()


def _put(new: Path, path: Path) -> None:
    """Move the new file to the place of the old one.

    First delete the old log, of which a copy is kept: SQLite would apply it to the new file.
    """
    for part in with_logs(path)[1:]:
        part.unlink(missing_ok=True)
    new.replace(path)
    sync_folder(path.parent)
