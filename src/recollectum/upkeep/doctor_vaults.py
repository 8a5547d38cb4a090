"""What can be seen inside a home: keys, schema, orphan files, drift, duplicates, and work that failed."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from recollectum.domain.errors import KeyProblem, StorageError
from recollectum.domain.memory import State
from recollectum.home.keys.holders import HolderKind
from recollectum.storage.migrate import pending, shipped
from recollectum.storage.opening import VAULT
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.verify import holds_nothing, worth
from recollectum.storage.tables import memories
from recollectum.storage.tables.vaults import VaultEntry
from recollectum.upkeep.backup_grounds import Grounds
from recollectum.upkeep.doctor_finding import Finding, Severity, fine
from recollectum.upkeep.doctor_home import ABANDONED
from recollectum.upkeep.doctor_reading import read_vault

_MANY = 0.05


def key(grounds: Grounds) -> Iterator[Finding]:
    """Who holds the key, and whether there is a way back when that one is lost."""
    holder = grounds.keys.holder()
    if holder.kind is HolderKind.OFF:
        words = "the home is not encrypted: whoever has the files, or a backup of them, can read them"
        cure = "set encryption to auto before you make a home"
        yield Finding(topic="key", severity=Severity.WARNING, words=words, cure=cure)
        return
    yield fine("key", f"the key is {holder.words}")
    if holder.recovery_code_made_at is None:
        words = "there is no recovery code: if the key is lost, so is everything"
        cure = "make one and write it on paper: recollectum encryption new-code"
        yield Finding(topic="recovery code", severity=Severity.WARNING, words=words, cure=cure)
    else:
        yield fine("recovery code", f"made on {holder.recovery_code_made_at:%Y-%m-%d}")


def orphans(grounds: Grounds, *, fix: bool) -> Iterator[Finding]:
    """Vault files that the catalog does not know: the making of a vault that was killed leaves one."""
    known = {entry.id for entry in grounds.entries()}
    for path in sorted(grounds.home.vaults.glob("*.db")):
        if path.stem not in known:
            yield _orphan(grounds, path, fix=fix)


def vault(grounds: Grounds, entry: VaultEntry) -> Iterator[Finding]:
    """What one vault is like."""
    report = read_vault(grounds, entry, data=False)
    topic = f"vault of {entry.owner}"
    for fault in report.faults:
        cure = (
            f"look closer with: recollectum verify --read-data --user {entry.owner}; then repair, or restore a backup"
        )
        yield Finding(topic=topic, severity=Severity.PROBLEM, words=fault, cure=cure)
    for gap in report.gaps:
        yield Finding(topic=topic, severity=Severity.NOTE, words=f"{gap}, lost in an earlier damage")
    if report.sound:
        database = SqliteDatabase(
            grounds.home.vault_file(entry.id), SqliteOptions(key=grounds.key_of(entry), readers=1)
        )
        try:
            yield from _inside(database, topic)
        finally:
            database.close()


def _inside(database: SqliteDatabase, topic: str) -> Iterator[Finding]:
    steps = pending(database, shipped(VAULT))
    if steps:
        words = f"{len(steps)} schema steps of this version are due; opening the vault takes them, after a backup"
        yield Finding(topic=topic, severity=Severity.NOTE, words=words, cure="recollectum upgrade")
        return
    found = database.on_connection(worth)
    words = f"sound, {found.live} live memories; how often each is recalled is not recorded"
    yield fine(topic, words)
    if found.duplicates:
        words = f"{found.duplicates} memories say what another says ({found.duplicates / found.live:.0%})"
        severity = Severity.WARNING if found.duplicates > found.live * _MANY else Severity.NOTE
        yield Finding(topic=topic, severity=severity, words=words, cure="forget those you do not want")
    if found.slight:
        words = f"{found.slight} memories are of an importance below 0.2 ({found.slight / found.live:.0%})"
        yield Finding(topic=topic, severity=Severity.NOTE, words=words)
    if found.failed_jobs:
        words = f"{found.failed_jobs} consolidations have failed for good"
        cure = "try them again with: recollectum consolidate"
        yield Finding(topic=topic, severity=Severity.WARNING, words=words, cure=cure)
    waiting = database.read(memories.counts).get(State.HARD_DELETE_PENDING, 0)
    if waiting:
        words = f"{waiting} forgotten memories wait to be destroyed"
        yield Finding(topic=topic, severity=Severity.NOTE, words=words, cure="recollectum lifecycle run")


def _orphan(grounds: Grounds, path: Path, *, fix: bool) -> Finding:
    empty = _is_empty(grounds, path)
    age = grounds.clock() - datetime.fromtimestamp(path.stat().st_mtime, UTC)
    if not empty:
        why = "cannot be read" if empty is None else "holds something"
        words = f"{path} belongs to nobody in the catalog and {why}"
        cure = "keep it; the catalog may be older than the file: restore a later backup of it"
        return Finding(topic="orphan files", severity=Severity.WARNING, words=words, cure=cure)
    words = f"{path} belongs to nobody and holds nothing; the making of a vault was cut short"
    # A vault that is being made at this moment looks the same.
    removed = fix and age >= ABANDONED
    if removed:
        for suffix in ("", "-wal", "-shm"):
            path.with_name(path.name + suffix).unlink(missing_ok=True)
        grounds.keys.destroy_key(path.stem)
    cure = "remove it with: recollectum doctor --fix, an hour after it was made"
    return Finding(topic="orphan files", severity=Severity.NOTE, words=words, cure=cure, fixed=removed)


def _is_empty(grounds: Grounds, path: Path) -> bool | None:
    """Whether the file holds nothing; None when that cannot be known."""
    if path.stat().st_size == 0:
        log = path.with_name(f"{path.name}-wal")
        return True if not log.exists() or log.stat().st_size == 0 else None
    try:
        key = grounds.keys.key(path.stem) if grounds.keys.has_key(path.stem) else None
        database = SqliteDatabase(path, SqliteOptions(key=key, readers=1))
        try:
            return database.on_connection(holds_nothing)
        finally:
            database.close()
    except (StorageError, KeyProblem):
        return None
