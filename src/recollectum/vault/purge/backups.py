"""Finds copies of a vault in the backups of a home, and destroys them without harm to other vaults.

They are the copies from before migrations, what repairs and restores put aside, and the backups of the home.
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
    """Every file and folder that holds a copy of one of these vaults."""
    wanted = tuple(vault_ids)
    found = {path for one in wanted for path in backups.glob(f"*{one}-*")}
    found.update(path for one in wanted for path in backups.rglob(f"{copy_name(one)}*") if path.parent != backups)
    # What lies in a folder that goes whole need not be named.
    inside = {path for path in found if any(parent in found for parent in path.parents)}
    return sorted((found - inside) | {one for one in backups.rglob("*.tar") if _holds(one, wanted)})


def destroy_copies(backups: Path, vault_ids: Collection[str], before: datetime | None = None) -> int:
    """Destroy those copies; a backup that held other vaults too is one of those from here on.

    With `before`, backups that were made after that time stay: what was erased by then is not in them.
    """
    found = [path for path in copies_of(backups, vault_ids) if before is None or not _is_after(path, before)]
    for path in found:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    # The catalog knows every person by name.
    if CATALOG in vault_ids:
        # With its key, a copy that somebody keeps elsewhere could still be read.
        for keys in backups.rglob(KEYS_COPY):
            drop_keys(keys, vault_ids)
    for manifest in backups.rglob(_MANIFEST):
        _rewrite(manifest)
    for folder in {path.parent for path in found}:
        sync_folder(folder)
    return len(found)


def _is_after(path: Path, time: datetime) -> bool:
    """Whether a copy is in a backup that says it was made after a time."""
    manifest = path.parent.parent / _MANIFEST
    return manifest.exists() and datetime.fromisoformat(json.loads(manifest.read_bytes())["made_at"]) > time


def _holds(archive: Path, vault_ids: Collection[str]) -> bool:
    # Only now: few have backups in one file.
    import tarfile  # noqa: PLC0415

    try:
        with tarfile.open(archive, mode="r:") as tar:
            names = tar.getnames()
    except (OSError, tarfile.TarError):
        return False
    return any(name.endswith(f"/{copy_name(one)}") for name in names for one in vault_ids)


def _rewrite(manifest: Path) -> None:
    """Let a manifest name what is still there, as it is now."""
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
