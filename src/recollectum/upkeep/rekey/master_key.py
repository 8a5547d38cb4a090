"""Replaces the master key of a home, and makes a new recovery code when there was one."""

from dataclasses import field
from pathlib import Path

from recollectum.domain.records import dataclass
from recollectum.home.keys.holders import HolderKind, KeyHolder
from recollectum.home.keys.recovery import new_code
from recollectum.storage.tables.catalog import backups_elsewhere
from recollectum.storage.tables.catalog.backups_elsewhere import BackupElsewhere
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.upkeep.rekey.backups import check_writable, encrypted_backups, renew_backups
from recollectum.upkeep.rekey.settling import changing_keys, settle_all
from recollectum.upkeep.rekey.vault_keys import check_encrypted


@dataclass(frozen=True, slots=True, kw_only=True)
class MasterRekey:
    """What a change of the master key does, or did."""

    #: Who holds the master key, before and after.
    holder: KeyHolder
    #: Backups in the home, whose keys are wrapped by the new master key.
    backups: tuple[Path, ...]
    #: Backups in the home that are left as they are: another home's, damaged, or changed since they were made.
    left: tuple[Path, ...] = ()
    #: Backups outside the home, which still need the old master key, and what opens each afterwards.
    elsewhere: tuple[str, ...] = ()
    #: Whether there is a recovery code, which is replaced.
    renews_code: bool = False
    #: The new recovery code, once the change is done.
    recovery_code: str | None = field(default=None, repr=False)


def preview_master(admin: HomeAdmin) -> MasterRekey:
    """Return what a new master key would touch; nothing is changed."""
    check_encrypted(admin)
    holder = admin.keys.holder()
    found = admin.catalog.read(backups_elsewhere.of)
    return MasterRekey(
        holder=holder,
        backups=tuple(encrypted_backups(admin.home)),
        elsewhere=tuple(_describe(one, holder) for one in found),
        renews_code=holder.recovery_code_made_at is not None,
    )


def rekey_master(admin: HomeAdmin) -> MasterRekey:
    """Replace the master key: its holder has a new one, and every key in the home and its backups is wrapped by that.

    Killed at any point, the home opens, and the next command finishes the change or undoes it. The recovery code stops
    working; if there was one, a new one is in the result, and nowhere else.
    """
    check_encrypted(admin)
    with changing_keys(admin.home, admin.keys):
        settle_all(admin.home, admin.engine, admin.keys)
        plan = preview_master(admin)
        check_writable(plan.backups)
        code = new_code() if plan.renews_code else None
        change = admin.keys.change_master(code)
        renewed, left = renew_backups(admin.home, change, admin.clock)
        admin.keys.finish_master(change)
    admin.log.info("rekey.done", {"kind": "master", "backups": len(renewed)})
    return MasterRekey(
        holder=admin.keys.holder(),
        backups=tuple(renewed),
        left=tuple(left),
        elsewhere=plan.elsewhere,
        renews_code=plan.renews_code,
        recovery_code=code,
    )


def _describe(one: BackupElsewhere, holder: KeyHolder) -> str:
    """Return where a backup outside the home is, and what opens it when the home has another master key."""
    made = f"{one.place} (made {one.made_at:%Y-%m-%d %H:%M} UTC)"
    if holder.kind is HolderKind.PASSPHRASE:
        return f"{made} opens with the passphrase that this home had then"
    code_at = holder.recovery_code_made_at
    ways = ["the present recovery code" if code_at and code_at <= one.made_at else "a recovery code made before it"]
    if holder.path:
        ways.append(f"a copy of the key file {holder.path} that you make now")
    return f"{made} opens only with {' or '.join(ways)}"
