"""Backs up a home in use, encrypted as it is, and verifies the backup by a trial restore."""

import hashlib
import os
import shutil
import tarfile
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import InvalidInput
from recollectum.home.files import PRIVATE_FILE, explain, make_private_folder, sync_file, sync_folder
from recollectum.home.locks import Lock
from recollectum.storage.opening import CATALOG
from recollectum.storage.sqlite.backup import copy_snapshot, keep_only_keys
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.integrity import row_counts, schema_number
from recollectum.storage.tables.catalog import vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.backup import manifest_file
from recollectum.upkeep.backup.manifest_file import Manifest, Part, digest
from recollectum.upkeep.backup.staging import check_part, stage
from recollectum.upkeep.home_admin import HomeAdmin

CATALOG_FILE = "catalog.db"
KEYS_FILE = "keys.db"
ARCHIVE = ".tar"
UNFINISHED = ".unfinished"

Progress = Callable[[int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that was restored once, to see that it can be."""

    path: Path
    manifest: Manifest
    bytes: int


def back_up(
    admin: HomeAdmin,
    *,
    to: Path | None = None,
    owners: Sequence[Owner] | None = None,
    progress: Progress = lambda _: None,
) -> Backup:
    """Copy the whole home, or the vaults of some owners, into a folder or a .tar file, and restore it for a trial.

    Nothing has the backup's name before it is whole and was read back; what fails or is killed leaves none.
    """
    archive = to if to is not None and to.suffix == ARCHIVE else None
    parent = archive.parent if archive else to or admin.home.backups
    if archive and archive.exists():
        raise InvalidInput(f"{archive} is there already; name another file, a backup never replaces one")
    make_private_folder(parent)
    with Lock(admin.home.locks / "backup.lock"):
        _clear_unfinished(admin, parent)
        work = parent / f".{os.urandom(6).hex()}-{_mark(admin)}{UNFINISHED}"
        make_private_folder(work)
        try:
            made = _fill(admin, work, owners, progress)
            _try_out(admin, work, made, progress)
            path = _pack(work, archive) if archive else _name(admin, work, parent)
            sync_folder(parent)
        except OSError as error:
            raise explain(error, parent) from error
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return Backup(path=path, manifest=made, bytes=sum(part.bytes for part in made.parts))


def size_of(admin: HomeAdmin, owners: Sequence[Owner] | None) -> int:
    """About how many pages a backup copies and reads back, for a progress bar."""
    files = [admin.home.vault_file(entry.id) for entry in admin.entries(owners)]
    return 2 * sum(path.stat().st_size for path in files if path.exists()) // 4096


def _fill(admin: HomeAdmin, work: Path, owners: Sequence[Owner] | None, progress: Progress) -> Manifest:
    make_private_folder(work / "vaults")
    parts: list[Part] = []
    if owners is None:
        # First, and the vaults as it names them: one that is made meanwhile is in the next backup, whole.
        parts.append(_copy(admin.home.catalog_file, work, CATALOG_FILE, admin.catalog_key(), progress))
        entries = _listed(work / CATALOG_FILE, admin.catalog_key())
    else:
        entries = admin.entries(owners)
    for entry in entries:
        name, source = f"vaults/{entry.id}.db", admin.home.vault_file(entry.id)
        parts.append(_copy(source, work, name, admin.key_of(entry), progress, vault_id=entry.id))
    if admin.keys.enabled:
        # Last: a key is made before its vault.
        wanted = {entry.id for entry in entries if entry.encrypted}
        parts.append(_copy_keys(admin, work, wanted | ({CATALOG} if owners is None else set())))
    made = Manifest(made_at=admin.clock(), whole=owners is None, parts=tuple(parts))
    manifest_file.write(work, made)
    return made


def _copy(
    source: Path, work: Path, name: str, key: bytes | None, progress: Progress, *, vault_id: str | None = None
) -> Part:
    target = work / name
    rows = copy_snapshot(source, target, key=key, progress=progress)
    return _part(target, name, key, rows, vault_id)


def _copy_keys(admin: HomeAdmin, work: Path, wanted: Collection[str]) -> Part:
    target = work / KEYS_FILE
    copy_snapshot(admin.home.keys_file, target, key=None)
    keep_only_keys(target, wanted)
    copied = SqliteDatabase(target, SqliteOptions(readers=1))
    try:
        rows = copied.on_connection(row_counts)
    finally:
        copied.close()
    return _part(target, KEYS_FILE, None, rows, None)


def _part(target: Path, name: str, key: bytes | None, rows: dict[str, int], vault_id: str | None) -> Part:
    copied = SqliteDatabase(target, SqliteOptions(key=key, readers=1))
    try:
        schema = copied.on_connection(schema_number)
    finally:
        copied.close()
    _sync(target)
    return Part(
        file=name,
        vault_id=vault_id,
        encrypted=key is not None,
        schema=schema,
        rows=rows,
        bytes=target.stat().st_size,
        sha256=digest(target),
    )


def _listed(catalog: Path, key: bytes | None) -> list[VaultEntry]:
    database = SqliteDatabase(catalog, SqliteOptions(key=key, readers=1))
    try:
        return database.read(vaults.everything)
    finally:
        database.close()


def _try_out(admin: HomeAdmin, work: Path, made: Manifest, progress: Progress) -> None:
    """Restore the backup into a place of its own, read every page of it, and compare the counts."""
    trial = work / "trial"
    try:
        stage(work, trial, made)
        for part in made.parts:
            key = admin.keys.key(part.vault_id or CATALOG) if part.encrypted else None
            check_part(trial, part, key)
            progress(part.bytes // 4096)
    finally:
        shutil.rmtree(trial, ignore_errors=True)


def _name(admin: HomeAdmin, work: Path, parent: Path) -> Path:
    base = f"recollectum-{admin.clock().strftime('%Y%m%dT%H%M%SZ')}"
    for number in range(1, 1000):
        path = parent / (base if number == 1 else f"{base}-{number}")
        if not path.exists():
            sync_folder(work / "vaults")
            sync_folder(work)
            return work.rename(path)
    raise InvalidInput(f"{parent} has a thousand backups of this second; name another folder with --to")


def _pack(work: Path, archive: Path) -> Path:
    packed = work.with_name(f"{work.name}{ARCHIVE}")
    try:
        # A private file first: the archive would be made with everybody's leave to read it.
        with os.fdopen(os.open(packed, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "w+b") as file:
            with tarfile.open(fileobj=file, mode="w") as tar:
                tar.add(work, arcname=archive.stem)
            file.flush()
            sync_file(file.fileno())
        return packed.rename(archive)
    finally:
        packed.unlink(missing_ok=True)


def _clear_unfinished(admin: HomeAdmin, parent: Path) -> None:
    """Remove what a backup of this home that was killed left behind; nobody else can be writing it now."""
    for left in parent.glob(f".*-{_mark(admin)}{UNFINISHED}*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _mark(admin: HomeAdmin) -> str:
    """What tells this home's unfinished backups from another's in the same folder."""
    return hashlib.sha256(str(admin.home.root.resolve()).encode()).hexdigest()[:12]


def _sync(path: Path) -> None:
    file = os.open(path, os.O_RDWR)
    try:
        sync_file(file)
    finally:
        os.close(file)
