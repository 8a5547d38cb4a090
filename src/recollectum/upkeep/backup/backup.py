"""Backs up a home in use, encrypted as it is, and verifies the backup by a trial restore."""

import hashlib
import os
import shutil
import tarfile
from collections.abc import Sequence
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.home.files import PRIVATE_FILE, explain, make_private_folder, sync_file, sync_folder
from recollectum.home.locks import Lock
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.storage.copies import check_copy, copy_name, entries_in
from recollectum.storage.engine import CATALOG, Progress, VaultCopy
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import backups_elsewhere
from recollectum.storage.tables.catalog.backups_elsewhere import BackupElsewhere
from recollectum.upkeep.backup import manifest_file
from recollectum.upkeep.backup.extension_files import NAME as EXTENSIONS
from recollectum.upkeep.backup.extension_files import pack_extensions, unpack_extensions
from recollectum.upkeep.backup.manifest_file import HomeArchive, Manifest, Part, digest
from recollectum.upkeep.backup.staging import stage
from recollectum.upkeep.home_admin import HomeAdmin

ARCHIVE = ".tar"
UNFINISHED = ".unfinished"


@dataclass(frozen=True, slots=True, kw_only=True)
class Backup:
    """A backup that passed a trial restore."""

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
    """Copy the whole home, or the vaults of some owners, into a folder or a .tar file, and test the restore.

    The backup gets its name only when it is complete and was read back; a failed or killed one leaves none.
    """
    archive = to if to is not None and to.suffix == ARCHIVE else None
    parent = archive.parent if archive else to or admin.home.backups
    if archive and archive.exists():
        raise InvalidInput(f"{archive} exists already; name another file, a backup never overwrites a file")
    make_private_folder(parent)
    with Lock(admin.home.locks / "backup.lock"):
        _clear_unfinished(admin, parent)
        work = parent / f".{os.urandom(6).hex()}-{_mark(admin)}{UNFINISHED}"
        make_private_folder(work)
        try:
            made = _fill(admin, work, owners, progress)
            _try_out(admin, work, made, progress)
            path = pack(work, archive) if archive else _name(admin, work, parent)
            sync_folder(parent)
        except OSError as error:
            raise explain(error, parent) from error
        finally:
            shutil.rmtree(work, ignore_errors=True)
        _record(admin, path, made)
    return Backup(path=path, manifest=made, bytes=sum(part.bytes for part in (*made.parts, *made.archives)))


def _record(admin: HomeAdmin, path: Path, made: Manifest) -> None:
    """Record a backup that a purge cannot reach, so that its receipt can say that it still holds what was erased."""
    place = path.resolve()
    if place.is_relative_to(admin.home.backups.resolve()):
        return
    ids = tuple(part.vault_id for part in made.vaults if part.vault_id)
    one = BackupElsewhere(place=str(place), made_at=made.made_at, vaults=ids)

    def change(tx: Tx) -> None:
        for known in backups_elsewhere.of(tx):
            if _is_gone(Path(known.place)):
                backups_elsewhere.remove(tx, known.place)
        backups_elsewhere.save(tx, one)

    admin.catalog.write(change)


def _is_gone(path: Path) -> bool:
    """Return whether a backup was removed; the empty folder of a disk that is not connected says nothing."""
    try:
        return not path.exists() and any(path.parent.iterdir())
    except OSError:
        return False


def size_of(admin: HomeAdmin, owners: Sequence[Owner] | None) -> int:
    """Return roughly how many pages a backup copies and reads back, for a progress bar."""
    places = [admin.engine.place_of(entry.id) for entry in admin.entries(owners)]
    return 2 * sum(place.bytes for place in places if place) // 4096


def _fill(admin: HomeAdmin, work: Path, owners: Sequence[Owner] | None, progress: Progress) -> Manifest:
    make_private_folder(work / "vaults")
    upkeep = admin.engine.upkeep
    parts: list[Part] = []
    if owners is None:
        # The catalog first, and then the vaults it names: a vault created meanwhile is in the next backup.
        key = admin.catalog_key()
        parts.append(_part(work, upkeep.copy_catalog(work, key, progress), key))
        entries = entries_in(work / copy_name(CATALOG), key)
    else:
        entries = admin.entries(owners)
    for entry in entries:
        key = admin.key_of(entry)
        parts.append(_part(work, upkeep.copy_vault(work, entry.id, key, chunk_terms, progress), key, entry.id))
    if admin.keys.enabled:
        # Last: a key is created before its vault.
        wanted = {entry.id for entry in entries if entry.encrypted}
        wanted |= {CATALOG} if owners is None else set[str]()
        parts.append(_part(work, admin.keys.place.copy(work, wanted), None))
    archives = _archives(admin, work) if owners is None else ()
    made = Manifest(made_at=admin.clock(), whole=owners is None, parts=tuple(parts), archives=archives)
    key = admin.keys.manifest_key() if any(part.encrypted for part in parts) else None
    manifest_file.write(work, made, key)
    return made


def _archives(admin: HomeAdmin, work: Path) -> tuple[HomeArchive, ...]:
    """Copy what the home has beside its databases."""
    target = work / EXTENSIONS
    if not pack_extensions(admin.home, target):
        return ()
    return (HomeArchive(file=EXTENSIONS, bytes=target.stat().st_size, sha256=digest(target)),)


def _part(work: Path, copy: VaultCopy, key: bytes | None, vault_id: str | None = None) -> Part:
    target = work / copy.file
    return Part(
        file=copy.file,
        vault_id=vault_id,
        encrypted=key is not None,
        schema=copy.schema,
        rows=copy.rows,
        bytes=target.stat().st_size,
        sha256=digest(target),
    )


def _try_out(admin: HomeAdmin, work: Path, made: Manifest, progress: Progress) -> None:
    """Restore the backup into a temporary folder, read every page, and compare the counts."""
    trial = work / "trial"
    try:
        stage(work, trial, made)
        for part in made.parts:
            key = admin.keys.key(part.vault_id or CATALOG) if part.encrypted else None
            check_copy(trial / part.file, part.file, key, part.rows)
            progress(part.bytes // 4096)
        for one in made.archives:
            unpack_extensions(trial / one.file, trial)
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


def pack(work: Path, archive: Path) -> Path:
    """Put the folder of a backup into one file, which replaces one of that name in one step."""
    packed = work.with_name(f"{work.name}{ARCHIVE}")
    try:
        # A private file first: otherwise the archive would be readable by everybody.
        with os.fdopen(os.open(packed, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "w+b") as file:
            with tarfile.open(fileobj=file, mode="w") as tar:
                tar.add(work, arcname=archive.stem)
            file.flush()
            sync_file(file.fileno())
        return packed.rename(archive)
    finally:
        packed.unlink(missing_ok=True)


def _clear_unfinished(admin: HomeAdmin, parent: Path) -> None:
    """Remove the leftovers of a killed backup of this home; nobody else can be writing it now."""
    for left in parent.glob(f".*-{_mark(admin)}{UNFINISHED}*"):
        if left.is_dir():
            shutil.rmtree(left, ignore_errors=True)
        else:
            left.unlink(missing_ok=True)


def _mark(admin: HomeAdmin) -> str:
    """Return the mark that tells this home's unfinished backups from another's in the same folder."""
    return hashlib.sha256(str(admin.home.root.resolve()).encode()).hexdigest()[:12]
