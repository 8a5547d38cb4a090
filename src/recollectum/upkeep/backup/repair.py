"""Repairs a damaged vault: salvages its rows into a new file and keeps the old one unchanged."""

import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, KeyProblem, StorageError
from recollectum.domain.session import Session, SessionKey, SessionKind
from recollectum.home.files import PRIVATE_FILE, explain, make_private_folder, sync_folder
from recollectum.home.locks import Lock
from recollectum.recall.index.verification import rebuild_index
from recollectum.storage.migrate import migrate, shipped
from recollectum.storage.opening import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, checkpoint
from recollectum.storage.sqlite.integrity import page_faults, step_of
from recollectum.storage.sqlite.salvage import (
    SalvageCounts,
    copy_raw,
    copy_schema_pages,
    delete_orphans,
    restore_references,
    salvage,
)
from recollectum.storage.tables.content import sessions
from recollectum.storage.tables.trail import meta, seals
from recollectum.storage.times import moment
from recollectum.upkeep.backup.restore import evidence_folder
from recollectum.upkeep.doctor.vault_checks import read_vault
from recollectum.upkeep.home_admin import HomeAdmin

_ORPHANS = """
    SELECT session_id, min(created_at), max(created_at), max(position), sum(token_estimate)
      FROM messages WHERE session_id NOT IN (SELECT id FROM sessions) GROUP BY session_id
"""
_TITLE = "recovered from a damaged vault"


def create_missing_sessions(tx: Tx) -> int:
    """Make a closed session for messages that have none; how many were made."""
    orphans = tx.rows(_ORPHANS, {})
    for session_id, first, last, position, tokens in orphans:
        sessions.insert(
            tx,
            Session(
                id=session_id,
                # Where it took place is lost as well; no channel opens a session under this key.
                key=SessionKey(kind=SessionKind.HOOK, name="recovered"),
                created_at=moment(first),
                updated_at=moment(last),
                ended_at=moment(last),
                title=_TITLE,
                message_count=position,
                token_estimate=tokens,
            ),
        )
    return len(orphans)


#: Made again from the others, or filled by the schema's own steps.
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
        "profiles",
    )
)
#: A repair reads and writes the whole vault several times.
_CACHE_KIB = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class RepairResult:
    """What a repair saved and lost."""

    owner: Owner
    #: What was found wrong; empty when nothing was, and then nothing was done.
    faults: tuple[str, ...]
    tables: tuple[SalvageCounts, ...] = ()
    #: Rows that were read but belonged to one that is lost.
    dropped: Mapping[str, int] | None = None
    #: Sessions that stand in for lost ones, so that their messages can still be read.
    stand_ins: int = 0
    #: Pieces of the index that were made again.
    pieces: int = 0
    #: Where the damaged file is kept.
    evidence: Path | None = None
    #: The tables and ids of rows that were saved, but are not as they were written.
    doubtful: tuple[str, ...] = ()

    @property
    def saved(self) -> int:
        """Rows that are in the new file, before those that belonged to nothing were dropped."""
        return sum(one.saved for one in self.tables)

    @property
    def lost(self) -> int:
        """Rows that could not be saved; at least, where a table is not counted exactly."""
        return sum(one.lost for one in self.tables) + sum((self.dropped or {}).values())


def repair(admin: HomeAdmin, owner: Owner, *, force: bool = False) -> RepairResult:
    """Salvage the vault of an owner, when it needs it or is forced to; refused while another program has it open.

    Only copies are worked on. The new file takes the old one's place when it is whole, by one rename.
    """
    (entry,) = admin.entries([owner])
    path, key = admin.home.vault_file(entry.id), admin.key_of(entry)
    if not path.exists():
        raise StorageError(f"{path} is missing, so there is nothing to salvage; restore it from a backup")
    faults = tuple(read_vault(admin, entry).faults)
    if not faults and not force:
        return RepairResult(owner=owner, faults=())
    with Lock(admin.home.locks / f"{entry.id}.repair.lock"):
        evidence = evidence_folder(admin.home, entry.id, admin.clock())
        work = admin.home.backups / f".{os.urandom(6).hex()}-repairing"
        try:
            make_private_folder(work)
            before = _marks(path)
            _copy_as_it_is(path, evidence)
            made = _salvaged(admin, owner, evidence / path.name, work, key)
            # Who has the old file open would go on writing into it, and who wrote meanwhile is not in the new one.
            if _marks(path) != before or not admin.release(entry.id):
                raise StorageError(f"another program uses the vault of {owner}; stop it, then run the repair again")
            _put(work / "new.db", path)
        except BaseException as error:
            # The old file stands where it stood, so a copy of it is of no use.
            shutil.rmtree(evidence, ignore_errors=True)
            if isinstance(error, OSError):
                raise explain(error, work) from error
            raise
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return RepairResult(
        owner=owner,
        faults=faults or ("nothing; the repair was forced",),
        tables=made.tables,
        dropped=made.dropped,
        stand_ins=made.stand_ins,
        pieces=made.pieces,
        evidence=evidence,
        doubtful=made.doubtful,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Made:
    tables: tuple[SalvageCounts, ...]
    dropped: Mapping[str, int]
    stand_ins: int
    pieces: int
    doubtful: tuple[str, ...]


def _marks(path: Path) -> list[tuple[int, int]]:
    """The state of the database and its log, which a write changes."""
    parts = [path.with_name(path.name + suffix) for suffix in ("", "-wal")]
    return [(found.st_size, found.st_mtime_ns) for found in (part.stat() for part in parts if part.exists())]


def _copy_as_it_is(path: Path, evidence: Path) -> None:
    """The database and its log, byte for byte."""
    for suffix in ("", "-wal"):
        part = path.with_name(path.name + suffix)
        if part.exists() and part.stat().st_size:
            copy_raw(part, evidence / part.name)
    sync_folder(evidence)


def _salvaged(admin: HomeAdmin, owner: Owner, evidence: Path, work: Path, key: bytes | None) -> _Made:
    old, new = work / "old.db", work / "new.db"
    for suffix in ("", "-wal"):
        part = evidence.with_name(evidence.name + suffix)
        if part.exists():
            # SQLite writes the log into what it opens, and the evidence must stay as it is.
            shutil.copyfile(part, old.with_name(old.name + suffix))
            old.with_name(old.name + suffix).chmod(PRIVATE_FILE)
    options = SqliteOptions(key=key, readers=1, cache_kib=_CACHE_KIB)
    number = _schema_of(old, key)
    if number is None:
        number = shipped(VAULT)[-1].number
        _make(admin, work / "donor.db", options, number)
        copy_schema_pages(work / "donor.db", old, key=key)
        _refuse_what_cannot_be_opened(old, key)
    _make(admin, new, options, number)
    tables = salvage(old, new, key=key, skip=DERIVED)
    database = SqliteDatabase(new, options)
    try:
        # The rest of the way, so that the rows can be read as this program knows them.
        migrate(database, shipped(VAULT), clock=admin.clock, backup=lambda _: None)
        # Before anything is mended, which changes rows as well.
        doubtful = database.read(_doubtful)
        stand_ins = database.write(create_missing_sessions)
        database.write(lambda tx: meta.save(tx, "owner", str(owner)))
    finally:
        database.close()
    parentless, strays = delete_orphans(new, key=key), restore_references(new, key=key)
    dropped = {table: parentless.get(table, 0) + strays.get(table, 0) for table in {*parentless, *strays}}
    return _Made(
        # The seals were of use to tell what is doubtful, and are made anew.
        tables=tuple(one for one in tables if one.table != "seals"),
        dropped=dropped,
        stand_ins=stand_ins,
        pieces=_rebuilt(new, options),
        doubtful=doubtful,
    )


def _doubtful(tx: Tx) -> tuple[str, ...]:
    """Rows whose seal does not fit them, or is lost."""
    return tuple(sorted({f"{table} {known}" for table, known in seals.changed(tx)}))


def _make(admin: HomeAdmin, path: Path, options: SqliteOptions, number: int) -> None:
    """A new vault, at the schema of the damaged one."""
    database = SqliteDatabase(path, options)
    try:
        migrate(database, shipped(VAULT)[:number], clock=admin.clock, backup=lambda _: None)
    finally:
        database.close()


def _schema_of(old: Path, key: bytes | None) -> int | None:
    """The schema step of the damaged file, the newest where its record cannot be read; None when it does not open."""
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


def _rebuilt(new: Path, options: SqliteOptions) -> int:
    def remake(tx: Tx) -> int:
        seals.clear(tx)
        if options.key is None:
            seals.seal(tx)
        return rebuild_index(tx)

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
    """The new file in the old one's place; the log of the old one, which is kept, would be taken for its own."""
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)
    new.replace(path)
    sync_folder(path.parent)
