"""Finds copies of a vault in the backups of a home, and destroys them without harm to other vaults.

The copies are those made before migrations, those that repairs and restores moved aside, and the backups of the home.
A backup that also holds other vaults keeps them. When a person is erased, they are deleted from its catalog.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any, NamedTuple

from recollectum.domain.errors import RecollectumError
from recollectum.domain.ids import Clock
from recollectum.home.files import PRIVATE_FILE, make_private_folder, sync_folder, write_atomic
from recollectum.storage.copies import (
    KEYS_COPY,
    MAC,
    change_catalog,
    copy_name,
    describe_copy,
    drop_keys,
    is_authentic,
    manifest_mac,
)
from recollectum.storage.engine import CATALOG
from recollectum.storage.port import Tx

_MANIFEST = "manifest.json"


class CatalogChange(NamedTuple):
    """What to delete from the copies of the catalog in backups."""

    change: Callable[[Tx], None]
    #: The key of the catalog.
    key: bytes | None
    clock: Clock


def copies_of(backups: Path, vault_ids: Iterable[str]) -> list[Path]:
    """Return every file and folder that holds a copy of one of these vaults."""
    wanted = tuple(vault_ids)
    inner = [one for one in wanted if one != CATALOG]
    found = {path for one in wanted for path in backups.glob(f"*{one}-*")}
    # The catalog inside a backup is every vault's, and is not destroyed.
    found.update(path for one in inner for path in backups.rglob(f"{copy_name(one)}*") if path.parent != backups)
    # The contents of a folder that is deleted as a whole need not be listed.
    inside = {path for path in found if any(parent in found for parent in path.parents)}
    return sorted((found - inside) | {one for one in backups.rglob("*.tar") if _holds(one, inner)})


def why_partial(backup: Path) -> str | None:
    """Return why the whole home cannot be restored from a backup; None when it can, or when it is no folder."""
    if not backup.is_dir():
        return None
    try:
        document = json.loads((backup / _MANIFEST).read_bytes())
        parts: list[dict[str, Any]] = document["parts"]
        named = sum(part["rows"].get("vaults", 0) for part in parts if part["vault_id"] is None)
        held = sum(part["vault_id"] is not None for part in parts)
    except (OSError, ValueError, LookupError, TypeError):
        return "its manifest cannot be read"
    if not document["whole"]:
        return "it covers only some vaults, without the catalog of the home"
    if named > held:
        vaults = "one vault" if named - held == 1 else f"{named - held} vaults"
        return f"{vaults} of the home {'is' if named - held == 1 else 'are'} not in it, because of a purge"
    return None


def destroy_copies(
    backups: Path,
    vault_ids: Collection[str],
    before: datetime | None = None,
    catalog: CatalogChange | None = None,
    manifest_key: bytes | None = None,
    *,
    with_keys: bool = False,
) -> int:
    """Destroy those copies; rewrite a backup that also holds other vaults, so that it keeps only those.

    With `before`, backups made after that time stay, because they do not hold what was erased by then. With `catalog`,
    a person is erased: they are deleted from the catalog of each backup, and the keys of their vaults with them. With
    `with_keys`, only the keys are deleted.
    """
    found = [path for path in copies_of(backups, vault_ids) if before is None or not _is_after(path, before)]
    archives = {path for path in found if path.suffix == ".tar"}
    for path in found:
        if path not in archives:
            _remove(path)
    if catalog or with_keys:
        archives |= _drop_keys(backups, vault_ids)
    if catalog:
        archives |= _forget_person(backups, catalog)
    for archive in sorted(archives):
        _rewrite_archive(
            backups,
            archive,
            lambda inside: destroy_copies(
                inside, vault_ids, catalog=catalog, manifest_key=manifest_key, with_keys=with_keys
            ),
        )
    for manifest in backups.rglob(_MANIFEST):
        rewrite_manifest(manifest, catalog, manifest_key)
    for folder in {path.parent for path in found}:
        sync_folder(folder)
    return len(found)


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def _drop_keys(backups: Path, vault_ids: Collection[str]) -> set[Path]:
    """Delete the keys of vaults from every folder; return the archives that have keys."""
    # With its key, a copy kept elsewhere could still be read.
    for keys in backups.rglob(KEYS_COPY):
        drop_keys(keys, [one for one in vault_ids if one != CATALOG])
    return {one for one in backups.rglob("*.tar") if _holds_member(one, KEYS_COPY)}


def _forget_person(backups: Path, catalog: CatalogChange) -> set[Path]:
    """Delete a person from every catalog in the folders; return the archives that have one."""
    for copy in backups.rglob(copy_name(CATALOG)):
        _change_or_destroy(backups, copy, catalog)
    return {one for one in backups.rglob("*.tar") if _holds(one, (CATALOG,))}


def _change_or_destroy(backups: Path, copy: Path, catalog: CatalogChange) -> None:
    """Delete a person from a copy of the catalog; destroy a copy that cannot be read."""
    try:
        with _room(backups) as room:
            change_catalog(copy, room, catalog.key, catalog.clock, catalog.change)
    except RecollectumError:
        copy.unlink(missing_ok=True)


def _rewrite_archive(backups: Path, archive: Path, destroy: Callable[[Path], object]) -> None:
    """Take the copies of these vaults out of a backup in one file; delete the file if no vault is left in it."""
    # Imported here: few homes have backups in one file.
    import tarfile  # noqa: PLC0415

    with _room(backups) as room:
        made = room / "archive"
        inside = room / "inside"
        try:
            with tarfile.open(archive, mode="r:") as tar:
                tar.extractall(inside, filter="data")
            destroy(inside)
            if any(inside.rglob(copy_name("*"))):
                with os.fdopen(os.open(made, os.O_RDWR | os.O_CREAT | os.O_EXCL, PRIVATE_FILE), "w+b") as file:
                    with tarfile.open(fileobj=file, mode="w") as tar:
                        for path in sorted(inside.iterdir()):
                            tar.add(path, arcname=path.name)
                    os.fsync(file.fileno())
        except tarfile.TarError:
            made.unlink(missing_ok=True)
        if made.exists():
            made.replace(archive)
        else:
            archive.unlink(missing_ok=True)
    sync_folder(archive.parent)


@contextmanager
def _room(backups: Path) -> Generator[Path]:
    """Yield an empty private folder; what a crash leaves of it is removed by the doctor."""
    room = backups / f".{os.urandom(6).hex()}-restoring"
    make_private_folder(room)
    try:
        yield room
    finally:
        with suppress(FileNotFoundError):
            shutil.rmtree(room)


def _is_after(path: Path, time: datetime) -> bool:
    """Return whether a copy is in a backup whose manifest says that it was made after a time."""
    manifest = path.parent.parent / _MANIFEST
    return manifest.exists() and datetime.fromisoformat(json.loads(manifest.read_bytes())["made_at"]) > time


def _holds(archive: Path, vault_ids: Collection[str]) -> bool:
    return any(_holds_member(archive, copy_name(one)) for one in vault_ids)


def _holds_member(archive: Path, name: str) -> bool:
    # Imported here: few homes have backups in one file.
    import tarfile  # noqa: PLC0415

    try:
        with tarfile.open(archive, mode="r:") as tar:
            names = tar.getnames()
    except (OSError, tarfile.TarError):
        return False
    return any(one.endswith(f"/{name}") for one in names)


def rewrite_manifest(
    manifest: Path, catalog: CatalogChange | None, key: bytes | None, new_key: bytes | None = None
) -> None:
    """Rewrite a manifest so that it lists the files that are left, as they are now; authenticate it again.

    With `new_key`, by that key, which replaces the other.
    """
    document: dict[str, Any] = json.loads(manifest.read_bytes())
    before: list[dict[str, Any]] = document["parts"]
    after = [_describe_part(manifest.parent, part, catalog) for part in _remaining_parts(manifest.parent, before)]
    if after != before:
        whole = document["whole"] and any(part["file"] == copy_name(CATALOG) for part in after)
        made = {**document, "whole": whole, "parts": after}
        # A forged one must not become genuine here.
        if key is not None and is_authentic(document, key):
            made[MAC] = manifest_mac(made, new_key or key)
        write_atomic(manifest, json.dumps(made, indent=2).encode() + b"\n")


def _remaining_parts(folder: Path, parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (part for part in parts if (folder / part["file"]).exists())


def _describe_part(folder: Path, part: dict[str, Any], catalog: CatalogChange | None) -> dict[str, Any]:
    path = folder / part["file"]
    changed = {KEYS_COPY, *((copy_name(CATALOG),) if catalog else ())}
    if part["file"] not in changed:
        return part
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found == part["sha256"]:
        return part
    schema, rows = describe_copy(path, catalog.key if catalog and part["encrypted"] else None)
    return {**part, "schema": schema, "rows": rows, "bytes": len(data), "sha256": found}
