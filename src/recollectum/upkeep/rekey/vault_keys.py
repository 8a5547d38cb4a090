"""Gives vaults new random keys: rewrites their files or rows, and destroys the old keys."""

import shutil
from collections.abc import Sequence
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Busy, DiskFull, KeyProblem, StorageError
from recollectum.domain.records import dataclass
from recollectum.storage.engine import Progress
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.home_admin import HomeAdmin, OpenedHome, admin_of
from recollectum.upkeep.rekey.settling import changing_keys, settle_all, settle_vault
from recollectum.vault.purge.backups import copies_of

_ENCRYPT = "recollectum backup --to FOLDER, then recollectum restore BACKUP --encrypt --into HOME"


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultRekey:
    """What a change of vault keys does, or did."""

    #: Whose vaults get new keys.
    owners: tuple[Owner, ...]
    #: Whose vaults are not encrypted, and stay as they are.
    plain: tuple[Owner, ...]
    #: The size of the files or rows that are rewritten.
    bytes: int
    #: Copies from migrations, repairs and restores, which are rewritten under the new keys.
    copies: tuple[Path, ...]
    #: Backups in the home. Each has its keys with it, the old ones, and can be restored as before.
    backups: tuple[Path, ...]

    @property
    def steps(self) -> int:
        """Return roughly how many pages are copied and read back, for a progress bar."""
        return 2 * self.bytes // 4096


def check_encrypted(admin: HomeAdmin) -> None:
    """Raise for a home without keys."""
    if not admin.keys.enabled:
        raise KeyProblem(f"this home is not encrypted, so it has no key to change; to encrypt it: {_ENCRYPT}")


def preview_vaults(admin: HomeAdmin, owners: Sequence[Owner] | None = None) -> VaultRekey:
    """Return what new keys for the vaults of these owners, or of all, would touch; nothing is changed."""
    check_encrypted(admin)
    entries = admin.entries(owners)
    chosen = [entry for entry in entries if entry.encrypted]
    plain = tuple(entry.owner for entry in entries if not entry.encrypted)
    if plain and (owners is not None or not chosen):
        raise KeyProblem(
            f"the vault of {plain[0]} is not encrypted, so it has no key to change; to encrypt: {_ENCRYPT}"
        )
    ids = [entry.id for entry in chosen]
    rewriting = admin.engine.upkeep.rewriting
    copies = tuple(copy for one in ids for copy in rewriting.copies(one))
    places = [admin.engine.place_of(one) for one in ids]
    return VaultRekey(
        owners=tuple(entry.owner for entry in chosen),
        plain=plain,
        bytes=sum(place.bytes for place in places if place) + sum(copy.stat().st_size for copy in copies),
        copies=copies,
        backups=_backups_with(admin, ids),
    )


def rekey_vaults(
    admin: HomeAdmin, owners: Sequence[Owner] | None = None, *, progress: Progress = lambda _: None
) -> VaultRekey:
    """Give the vaults of these owners, or all, new keys; refuse when another process has the file of one open.

    Each vault is rewritten under its new key, read back, and put in the place of the old one: by one rename of a file,
    or in one transaction of a server. Killed at any point, it opens with everything in it, and the next command
    finishes the change or undoes it.
    """
    check_encrypted(admin)
    with changing_keys(admin.home, admin.keys):
        settle_all(admin.home, admin.engine, admin.keys)
        plan = preview_vaults(admin, owners)
        entries = [entry for entry in admin.entries(owners) if entry.encrypted]
        for entry in entries:
            _check_unused(admin, entry)
        _check_room(admin, plan, entries)
        for entry in entries:
            _rekey(admin, entry, progress)
    admin.log.info("rekey.done", {"kind": "vaults", "vaults": len(entries)})
    return plan


def rekey_owner(opened: OpenedHome, owner: Owner) -> None:
    """Give the vault of one owner a new key, in a home that is open."""
    rekey_vaults(admin_of(opened), [owner])


def _rekey(admin: HomeAdmin, entry: VaultEntry, progress: Progress) -> None:
    old = admin.keys.key(entry.id)
    new = admin.keys.add_next_key(entry.id)
    try:
        # After the next key is recorded: a process that opens the vault from here on sees it, and waits.
        _check_unused(admin, entry)
        admin.engine.upkeep.rewriting.rewrite(entry.id, old, new, progress, lambda: _check_next(admin, entry, new))
    finally:
        settle_vault(admin.engine, admin.keys, entry.id, progress)


def _check_next(admin: HomeAdmin, entry: VaultEntry, new: bytes) -> None:
    """Raise if another host took over, because this one seemed to be gone: nobody would have the new key."""
    if admin.keys.find_next_key(entry.id) != new:
        raise Busy(f"another host has ended this change of the key of {entry.owner}, which keeps its key; try again")


def _check_unused(admin: HomeAdmin, entry: VaultEntry) -> None:
    if admin.engine.place_of(entry.id) is None:
        raise StorageError(f"the vault of {entry.owner} is missing, so it gets no new key; restore it from a backup")
    if not admin.opened.release(entry.id):
        raise Busy(
            f"another process has the vault of {entry.owner} open, so it keeps its key; stop the programs that use it "
            "(the daemon: recollectum daemon stop), then try again"
        )


def _check_room(admin: HomeAdmin, plan: VaultRekey, entries: Sequence[VaultEntry]) -> None:
    """Raise when there is no room to rewrite the largest file: found out later, it would have cost the time."""
    rewriting = admin.engine.upkeep.rewriting
    sizes = [*(rewriting.room_for(entry.id) for entry in entries), *(copy.stat().st_size for copy in plan.copies)]
    needed, free = max(sizes, default=0), shutil.disk_usage(admin.home.root).free
    if free < needed:
        raise DiskFull(
            f"the disk of {admin.home.root} has {free / 2**20:.0f} MiB free, and rewriting the largest file needs "
            f"{needed / 2**20:.0f} MiB; free some space, nothing was changed"
        )


def _backups_with(admin: HomeAdmin, vault_ids: Sequence[str]) -> tuple[Path, ...]:
    found = copies_of(admin.home.backups, vault_ids)
    folders = {path.parent.parent for path in found if path.parent.name == "vaults"}
    return tuple(sorted(folders | {path for path in found if path.suffix == ".tar"}))
