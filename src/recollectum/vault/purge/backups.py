"""Finds copies of a vault in the backups of a home, and destroys them without harm to other vaults.

The copies are those made before migrations, those that repairs and restores moved aside, and the backups of the home.
"""

import hashlib
import json
import shutil
from collections.abc import Collection, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

from recollectum.home.files import sync_folder, write_atomic
from recollectum.storage.copies import KEYS_COPY, copy_name, drop_keys, row_counts
from recollectum.storage.engine import CATALOG

_MANIFEST = "manifest.json"


def copies_of(backups: Path, vault_ids: Iterable[str]) -> list[Path]:
    """Return every file and folder that holds a copy of one of these vaults."""
    wanted = tuple(vault_ids)
    found = {path for one in wanted for path in backups.glob(f"*{one}-*")}
    found.update(path for one in wanted for path in backups.rglob(f"{copy_name(one)}*") if path.parent != backups)
    # The contents of a folder that is deleted as a whole need not be listed.
    inside = {path for path in found if any(parent in found for parent in path.parents)}
    return sorted((found - inside) | {one for one in backups.rglob("*.tar") if _holds(one, wanted)})


def destroy_copies(backups: Path, vault_ids: Collection[str], before: datetime | None = None) -> int:
    """Destroy those copies; rewrite a backup that also holds other vaults, so that it keeps only those.

    With `before`, backups made after that time stay, because they do not hold what was erased by then.
    """
    found = [path for path in copies_of(backups, vault_ids) if before is None or not _is_after(path, before)]
    for path in found:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    # The catalog holds the name of every person.
    if CATALOG in vault_ids:
        # With its key, a copy kept elsewhere could still be read.
        for keys in backups.rglob(KEYS_COPY):
            drop_keys(keys, vault_ids)
    for manifest in backups.rglob(_MANIFEST):
        _rewrite(manifest)
    for folder in {path.parent for path in found}:
        sync_folder(folder)
    return len(found)


def _is_after(path: Path, time: datetime) -> bool:
    """Return whether a copy is in a backup whose manifest says that it was made after a time."""
    manifest = path.parent.parent / _MANIFEST
    return manifest.exists() and datetime.fromisoformat(json.loads(manifest.read_bytes())["made_at"]) > time


def _holds(archive: Path, vault_ids: Collection[str]) -> bool:
    # Imported here: few homes have backups in one file.
    import tarfile  # noqa: PLC0415

    try:
        with tarfile.open(archive, mode="r:") as tar:
            names = tar.getnames()
    except (OSError, tarfile.TarError):
        return False
    return any(name.endswith(f"/{copy_name(one)}") for name in names for one in vault_ids)


def _rewrite(manifest: Path) -> None:
    """Rewrite a manifest so that it lists the files that are left, with their current state."""
    document: dict[str, Any] = json.loads(manifest.read_bytes())
    before: list[dict[str, Any]] = document["parts"]
    after = [_describe_part(manifest.parent, part) for part in _remaining_parts(manifest.parent, before)]
    if after != before:
        whole = document["whole"] and any(part["file"] == copy_name(CATALOG) for part in after)
        write_atomic(manifest, json.dumps({**document, "whole": whole, "parts": after}, indent=2).encode() + b"\n")


def _remaining_parts(folder: Path, parts: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    return (part for part in parts if (folder / part["file"]).exists())


def _describe_part(folder: Path, part: dict[str, Any]) -> dict[str, Any]:
    path = folder / part["file"]
    if part["file"] != KEYS_COPY:
        return part
    data = path.read_bytes()
    found = hashlib.sha256(data).hexdigest()
    if found == part["sha256"]:
        return part
    return {**part, "rows": row_counts(path), "bytes": len(data), "sha256": found}
