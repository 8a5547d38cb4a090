"""Checks keys, orphan files and vaults: integrity, schema, index drift, duplicates and failed jobs."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import KeyProblem, RecollectumError, StorageError
from recollectum.domain.memory import State
from recollectum.home.keys.holders import HolderKind
from recollectum.recall.index.verification import check_index
from recollectum.storage.migrate import pending, shipped
from recollectum.storage.opening import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx
from recollectum.storage.sqlite.integrity import (
    gaps,
    holds_nothing,
    marked_texts,
    page_faults,
    row_faults,
    strays,
    worth,
)
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.storage.tables.content import memories, messages, sessions
from recollectum.storage.tables.learning import jobs, proposals
from recollectum.storage.tables.trail import events, meta
from recollectum.text.terms.similarity import fingerprint
from recollectum.upkeep.doctor.home_checks import ABANDONED, HealthFinding, Severity, fine
from recollectum.upkeep.home_admin import HomeAdmin

_UNDECODABLE = (ValueError, KeyError, TypeError, RecollectumError)
_MANY = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultReport:
    """What a reading of one vault found."""

    owner: Owner
    vault_id: str
    #: What is wrong, and can be cured by a repair, a rebuild or a backup.
    faults: tuple[str, ...] = ()
    #: What was lost earlier and is missing for good.
    gaps: tuple[str, ...] = ()

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def read_base(admin: HomeAdmin) -> tuple[str, ...]:
    """What is wrong with the catalog and the wrapped keys, read to the last page."""
    files = [(admin.home.catalog_file, admin.catalog_key())]
    files += [(admin.home.keys_file, None)] if admin.keys.enabled else []
    found: list[str] = []
    for path, key in files:
        try:
            database = SqliteDatabase(path, SqliteOptions(key=key, readers=1))
            try:
                faults = database.on_connection(page_faults) or database.on_connection(row_faults)
            finally:
                database.close()
        except (StorageError, KeyProblem) as error:
            faults = [str(error)]
        found += [f"{path.name}: {fault}" for fault in faults]
    return tuple(found)


def read_vault(admin: HomeAdmin, entry: VaultEntry, *, data: bool = True) -> VaultReport:
    """Look at a vault without changing it: the structure, and with `data` every page and row."""
    try:
        faults, missing = _look(admin, entry, data=data)
    except (StorageError, KeyProblem) as error:
        faults, missing = [str(error)], []
    return VaultReport(owner=entry.owner, vault_id=entry.id, faults=tuple(faults), gaps=tuple(missing))


def _look(admin: HomeAdmin, entry: VaultEntry, *, data: bool) -> tuple[list[str], list[str]]:
    path = admin.home.vault_file(entry.id)
    if not path.exists():
        return [f"{path} is missing; restore it from a backup"], []
    database = SqliteDatabase(path, SqliteOptions(key=admin.key_of(entry), readers=1))
    try:
        named = database.on_connection(lambda connection: meta.find(SqliteTx(connection), "owner"))
        faults = [] if named == str(entry.owner) else [f"{path} is not the vault that the catalog takes it for"]
        if data:
            faults += database.on_connection(page_faults) or database.on_connection(row_faults)
        if faults or pending(database, shipped(VAULT)):
            # The rules below know the schema of this program only; an older one has been read page by page.
            return faults, []
        faults += [f"{count} {what}" for what, count in database.on_connection(strays).items()]
        faults += database.read(_index_faults)
        if data:
            faults += database.read(_meaning_faults) or _changed_texts(database.on_connection(marked_texts))
        missing = database.on_connection(gaps)
        return faults, [f"{count} {what}" for what, count in missing.items()]
    finally:
        database.close()


def _index_faults(tx: Tx) -> list[str]:
    health = check_index(tx)
    found: list[str] = []
    if health.missing or health.stray:
        found.append(
            f"{health.missing} missing from the index, {health.stray} stray in it; run: recollectum index rebuild"
        )
    if health.changed:
        found.append(
            f"{health.changed} rows are not as they were written; restore a backup, or run: recollectum repair"
        )
    return found


def _meaning_faults(tx: Tx) -> list[str]:
    """Rows that SQLite can read and we cannot."""
    readings: dict[str, Callable[[], Iterable[object]]] = {
        "memories": lambda: memories.everything(tx),
        "messages": lambda: messages.everything(tx),
        "sessions": lambda: sessions.page(tx, before=None, prefix=None, limit=_MANY),
        "events": lambda: events.page(tx, before=None, type=None, limit=_MANY),
        "proposals": lambda: proposals.page(tx, before=None, limit=_MANY),
        "jobs": lambda: jobs.page(tx, state=None, before=None, limit=_MANY),
    }
    found: list[str] = []
    for name, read in readings.items():
        try:
            for _ in read():
                pass
        except _UNDECODABLE as error:
            found.append(f"{name} has a row that does not decode ({type(error).__name__})")
    return found


def _changed_texts(pairs: Iterable[tuple[str, str]]) -> list[str]:
    """Texts that are not what was written: in a vault that is not encrypted, a flipped bit is seen by this alone."""
    # A fingerprint of another version of the program says nothing.
    version = fingerprint("").partition(":")[0]
    changed = sum(1 for text, mark in pairs if mark.partition(":")[0] == version and fingerprint(text) != mark)
    return [f"{changed} memories whose text is not what was written; look at them with: recollectum memories list"] * (
        changed > 0
    )


_MANY_DUPLICATES = 0.05


def key(admin: HomeAdmin) -> Iterator[HealthFinding]:
    """Who holds the key, and whether there is a way back when that one is lost."""
    holder = admin.keys.holder()
    if holder.kind is HolderKind.OFF:
        words = "the home is not encrypted: whoever has the files, or a backup of them, can read them"
        cure = "set encryption to auto before you make a home"
        yield HealthFinding(topic="key", severity=Severity.WARNING, words=words, cure=cure)
        return
    yield fine("key", f"the key is {holder.words}")
    if holder.recovery_code_made_at is None:
        words = "there is no recovery code: if the key is lost, so is everything"
        cure = "make one and write it on paper: recollectum encryption new-code"
        yield HealthFinding(topic="recovery code", severity=Severity.WARNING, words=words, cure=cure)
    else:
        yield fine("recovery code", f"made on {holder.recovery_code_made_at:%Y-%m-%d}")


def orphans(admin: HomeAdmin, *, fix: bool) -> Iterator[HealthFinding]:
    """Vault files that the catalog does not know: the making of a vault that was killed leaves one."""
    known = {entry.id for entry in admin.entries()}
    for path in sorted(admin.home.vaults.glob("*.db")):
        if path.stem not in known:
            yield _orphan(admin, path, fix=fix)


def base(admin: HomeAdmin) -> Iterator[HealthFinding]:
    """What is wrong with the catalog and the wrapped keys, read to the last page."""
    for fault in read_base(admin):
        cure = "restore it from a backup: recollectum restore FOLDER"
        yield HealthFinding(topic="home", severity=Severity.PROBLEM, words=fault, cure=cure)


def vault(admin: HomeAdmin, entry: VaultEntry, *, deep: bool) -> Iterator[HealthFinding]:
    """What one vault is like; with `deep` every page and row is read."""
    report = read_vault(admin, entry, data=deep)
    topic = f"vault of {entry.owner}"
    closer = "" if deep else f"look closer with: recollectum doctor --deep --user {entry.owner}; then "
    for fault in report.faults:
        cure = f"{closer}salvage it: recollectum repair --user {entry.owner}; or restore a backup"
        yield HealthFinding(topic=topic, severity=Severity.PROBLEM, words=fault, cure=cure)
    for gap in report.gaps:
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=f"{gap}, lost in an earlier damage")
    if report.sound:
        database = SqliteDatabase(admin.home.vault_file(entry.id), SqliteOptions(key=admin.key_of(entry), readers=1))
        try:
            yield from _inside(database, topic)
        finally:
            database.close()


def _inside(database: SqliteDatabase, topic: str) -> Iterator[HealthFinding]:
    steps = pending(database, shipped(VAULT))
    if steps:
        words = f"{len(steps)} schema steps of this version are due; opening the vault takes them, after a backup"
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=words, cure="recollectum upgrade")
        return
    found = database.on_connection(worth)
    words = f"sound, {found.live} live memories; how often each is recalled is not recorded"
    yield fine(topic, words)
    if found.duplicates:
        words = f"{found.duplicates} memories say what another says ({found.duplicates / found.live:.0%})"
        severity = Severity.WARNING if found.duplicates > found.live * _MANY_DUPLICATES else Severity.NOTE
        yield HealthFinding(topic=topic, severity=severity, words=words, cure="forget those you do not want")
    if found.slight:
        words = f"{found.slight} memories are of an importance below 0.2 ({found.slight / found.live:.0%})"
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=words)
    if found.failed_jobs:
        words = f"{found.failed_jobs} consolidations have failed for good"
        cure = "try them again with: recollectum consolidate"
        yield HealthFinding(topic=topic, severity=Severity.WARNING, words=words, cure=cure)
    waiting = database.read(memories.counts).get(State.HARD_DELETE_PENDING, 0)
    if waiting:
        words = f"{waiting} forgotten memories wait to be destroyed"
        yield HealthFinding(topic=topic, severity=Severity.NOTE, words=words, cure="recollectum lifecycle run")


def _orphan(admin: HomeAdmin, path: Path, *, fix: bool) -> HealthFinding:
    empty = _is_empty(admin, path)
    age = admin.clock() - datetime.fromtimestamp(path.stat().st_mtime, UTC)
    if not empty:
        why = "cannot be read" if empty is None else "holds something"
        words = f"{path} belongs to nobody in the catalog and {why}"
        cure = "keep it; the catalog may be older than the file: restore a later backup of it"
        return HealthFinding(topic="orphan files", severity=Severity.WARNING, words=words, cure=cure)
    words = f"{path} belongs to nobody and holds nothing; the making of a vault was cut short"
    # A vault that is being made at this moment looks the same.
    removed = fix and age >= ABANDONED
    if removed:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        admin.keys.destroy_key(path.stem)
    cure = "remove it with: recollectum doctor --fix, an hour after it was made"
    return HealthFinding(topic="orphan files", severity=Severity.NOTE, words=words, cure=cure, fixed=removed)


def _is_empty(admin: HomeAdmin, path: Path) -> bool | None:
    """Whether the file holds nothing; None when that cannot be known."""
    if path.stat().st_size == 0:
        log = path.with_name(f"{path.name}-wal")
        return True if not log.exists() or log.stat().st_size == 0 else None
    try:
        key = admin.keys.key(path.stem) if admin.keys.has_key(path.stem) else None
        database = SqliteDatabase(path, SqliteOptions(key=key, readers=1))
        try:
            return database.on_connection(holds_nothing)
        finally:
            database.close()
    except (StorageError, KeyProblem):
        return None
