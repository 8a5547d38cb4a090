"""Wraps the keys in the backups of a home by its new master key, so that they can be restored with it."""

import json
import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from recollectum.domain.errors import Damaged, KeyProblem, NotFound, ReadOnly
from recollectum.domain.ids import Clock, system_clock
from recollectum.home.files import explain, make_private_folder, sync_folder
from recollectum.home.paths import Home
from recollectum.storage.copies import KEYS_COPY, MAC, is_authentic, rewrap_keys
from recollectum.storage.key_renewal import MasterChange
from recollectum.upkeep.backup.backup import ARCHIVE, pack
from recollectum.upkeep.backup.manifest_file import NAME
from recollectum.upkeep.backup.staging import opened_backup
from recollectum.vault.purge.backups import rewrite_manifest


def encrypted_backups(home: Home) -> list[Path]:
    """Return the backups in a home that have keys with them: folders, and archives that can be read."""
    folders = {path.parent for path in home.backups.rglob(NAME) if (path.parent / KEYS_COPY).is_file()}
    found = folders | set(home.backups.rglob(f"*{ARCHIVE}"))
    # What is being made, unpacked or restored has a hidden name.
    return sorted(
        path for path in found if not any(part.startswith(".") for part in path.relative_to(home.backups).parts)
    )


def renew_backups(home: Home, change: MasterChange, clock: Clock = system_clock) -> tuple[list[Path], list[Path]]:
    """Wrap the keys in every backup by the new master key; return those that have it, and those left as they were.

    It may be repeated after an interruption. A backup is left when it is another home's, damaged, or not authentic:
    it could not be restored before either, or needs another key.
    """
    # An interrupted attempt may have left it, with keys in it.
    shutil.rmtree(_room(home), ignore_errors=True)
    renewed: list[Path] = []
    left: list[Path] = []
    for path in encrypted_backups(home):
        try:
            done = _renew_archive(home, path, change, clock) if path.is_file() else _renew_folder(path, change, clock)
        except OSError as error:
            raise explain(error, path) from error
        (renewed if done else left).append(path)
    return renewed, left


def check_writable(backups: Iterable[Path]) -> None:
    """Raise for a backup that this account may not change, before the key that opens it is replaced."""
    for path in backups:
        parts = (path.parent, path) if path.is_file() else (path, path / NAME, path / KEYS_COPY)
        for part in parts:
            if not os.access(part, os.R_OK | os.W_OK):
                raise ReadOnly(f"{part} may not be written by this account; correct its owner or mode, or move it away")


def _room(home: Home) -> Path:
    """Return the folder that archives are unpacked in; one change of keys runs at a time."""
    return home.backups / ".rekey.unfinished"


def _renew_folder(folder: Path, change: MasterChange, clock: Clock) -> bool:
    old_key, new_key = change.manifest_keys()
    try:
        document = json.loads((folder / NAME).read_bytes())
        if MAC in document and not is_authentic(document, old_key):
            return is_authentic(document, new_key)
        if not rewrap_keys(folder / KEYS_COPY, change, clock):
            return False
        rewrite_manifest(folder / NAME, None, old_key, new_key)
    except (ValueError, LookupError, TypeError, Damaged, KeyProblem):
        return False
    return True


def _renew_archive(home: Home, archive: Path, change: MasterChange, clock: Clock) -> bool:
    room = _room(home)
    make_private_folder(room)
    try:
        with opened_backup(archive, room) as folder:
            done = (folder / KEYS_COPY).is_file() and _renew_folder(folder, change, clock)
            if done:
                pack(folder, archive)
                sync_folder(archive.parent)
            return done
    except (Damaged, NotFound):
        return False
    finally:
        shutil.rmtree(room, ignore_errors=True)
