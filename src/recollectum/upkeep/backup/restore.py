"""Restores vaults or a whole home from a backup, each atomically, and moves replaced files aside."""

import os
import shutil
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from functools import partial
from pathlib import Path
from typing import Literal

from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import DEFAULT_TENANT, Person
from recollectum.domain.errors import Conflict, Damaged, InvalidInput, KeyProblem, NotFound
from recollectum.domain.ids import Clock, IdMaker
from recollectum.domain.records import dataclass
from recollectum.home.extensions.register import FOLDER
from recollectum.home.files import make_private_folder
from recollectum.home.keys.key_file import check_outside
from recollectum.home.locks import Lock
from recollectum.home.logs import Log
from recollectum.home.paths import Home, prepare
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.settings.model import Settings
from recollectum.storage.catalog_mark import CatalogMarkFile
from recollectum.storage.copies import (
    KEYS_COPY,
    check_copy,
    copy_name,
    entries_in,
    mark_vaults,
    recode_copy,
    upgrade_catalog,
    upgrade_vault,
)
from recollectum.storage.engine import CATALOG
from recollectum.storage.keystore import KeyStore
from recollectum.storage.opening import open_engine
from recollectum.storage.port import Tx
from recollectum.storage.shared.choosing import load_copied_keys
from recollectum.storage.shared.key_place import CHANGES
from recollectum.storage.tables.catalog import people, vault_marks, vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.extension_files import is_in_the_way, put_extensions, unpack_extensions
from recollectum.upkeep.backup.manifest_file import Manifest, check_authentic
from recollectum.upkeep.backup.staging import check_is_backup, opened_backup, read_manifest, stage
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.vault.access.people import ensure_tenant
from recollectum.vault.purge.environment import was_erased


@dataclass(frozen=True, slots=True, kw_only=True)
class BackupAccess:
    """What a backup is opened with."""

    #: Those of the home into which it is restored.
    settings: Settings
    environ: Mapping[str, str] = field(repr=False)
    clock: Clock
    passphrase: str | None = field(default=None, repr=False)
    #: The recovery code, if the holder is out of reach; it gives the key to a holder on this machine.
    recovery_code: str | None = field(default=None, repr=False)
    #: Whether an encrypted home takes a backup of a plain one, which nothing proves to be unchanged.
    unauthenticated: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class RestoreResult:
    """The result of a restore."""

    owners: tuple[Owner, ...]
    #: What was there before: a backup of it, or the path of damaged files.
    kept: tuple[Path, ...] = ()
    #: People in the backup who were erased from this home since; they stay erased.
    erased: tuple[Owner, ...] = ()
    #: Whether the manifest is proven to be from the home that made the backup.
    authenticated: bool = False
    #: Whether the restored vaults are encrypted now.
    encrypted: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class _Staged:
    """One vault of a backup, read completely and at this program's schema."""

    owner: Owner
    vault_id: str
    file: Path
    key: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Stage:
    """A backup in a temporary folder, every file of it verified."""

    room: Path
    manifest: Manifest
    vaults: list[_Staged]
    authenticated: bool
    #: The files of the home to be, when the whole home is restored.
    names: tuple[str, ...]
    #: The keys of these files, by the ids of their vaults; the catalog has one too.
    keys: Mapping[str, bytes | None]
    encrypted: bool
    #: The folder of the extensions, if the backup has any.
    extensions: Path | None


def restore_home(
    home: Home, backup: Path, opening: BackupAccess, *, replace: bool = False, encrypted: bool | None = None
) -> RestoreResult:
    """Restore a whole home where there is none; its catalog comes last and completes it.

    With `encrypted`, it is encrypted or decrypted on the way; else it stays as it was.
    """
    engine = open_engine(home, opening.settings.storage, opening.clock)
    if engine.is_made():
        raise Conflict(f"there is a home at {home.root} already; restore into another one with --into")
    check_is_backup(backup)
    if encrypted and opening.settings.key_file:
        check_outside(Path(opening.settings.key_file).expanduser(), home.root)
    prepare(home)
    # With `encrypted` somebody has said that they know what the backup is.
    protected = encrypted is None and opening.settings.encryption == "auto"
    with (
        Lock(home.locks / "home.lock"),
        _staged(home, backup, opening, None, protected=protected, encrypted=encrypted) as stage,
    ):
        if not stage.manifest.whole:
            raise InvalidInput(f"{backup} contains only some vaults; make a home first with: recollectum init")
        there = engine.upkeep.in_the_way(stage.names)
        if stage.extensions and is_in_the_way(home):
            there = [*there, home.folder(FOLDER)]
        if there and not replace:
            raise Conflict(f"{there[0]} exists already; add --replace to move it away, or restore with --into")
        # Of the catalog that was here before.
        CatalogMarkFile(home).forget()
        names = _load_keys(home, stage, opening) if opening.settings.storage.keys_url else stage.names
        # Before the catalog, which completes the home.
        aside = home.backups / f"aside-extensions-{opening.clock().strftime('%Y%m%dT%H%M%S%fZ')}"
        kept = put_extensions(home, stage.extensions, aside) if stage.extensions else []
        kept += engine.upkeep.put_home(stage.room, names, stage.keys, chunk_terms, opening.clock())
    log = Log(home, opening.settings.log.level, opening.clock)
    log.info("restore.done", {"kind": "home", "vaults": len(stage.vaults)})
    log.close()
    return RestoreResult(
        owners=tuple(one.owner for one in stage.vaults),
        kept=tuple(kept),
        authenticated=stage.authenticated,
        encrypted=stage.encrypted,
    )


def _load_keys(home: Home, stage: _Stage, opening: BackupAccess) -> tuple[str, ...]:
    """Write the keys of a backup into the keys database, which must have none; return the files that are left."""
    if KEYS_COPY in stage.names:
        load_copied_keys(home, opening.settings.storage, stage.room / KEYS_COPY, opening.clock)
    return tuple(name for name in stage.names if name != KEYS_COPY)


def restore_vaults(
    admin: HomeAdmin,
    backup: Path,
    opening: BackupAccess,
    *,
    owners: Sequence[Owner] | None = None,
    replace: bool = False,
) -> RestoreResult:
    """Restore vaults into a home in use; with `replace`, after a backup of the existing ones."""
    with _staged(admin.home, backup, opening, owners, protected=admin.keys.enabled) as stage:
        staged = stage.vaults
        entries = {entry.owner: entry for entry in admin.entries()}
        erased = [one.owner for one in staged if was_erased(admin.catalog, one.vault_id)]
        if erased and owners is not None:
            raise Conflict(f"{erased[0]} was erased from this home after that backup, and is not restored into it")
        staged = [one for one in staged if one.owner not in erased]
        living = [one.owner for one in staged if one.owner in entries and _lives(admin, entries[one.owner])]
        if living and not replace:
            raise Conflict(
                f"{living[0]} has a vault here; add --replace, which makes a backup of it first, or restore with --into"
            )
        kept: list[Path] = []
        for one in staged:
            entry = entries.get(one.owner)
            if entry is None:
                _add(admin, one, encrypted=opening.settings.encryption == "auto" and admin.keys.enabled)
            else:
                with admin.keys.place.lock(CHANGES):
                    kept += _replace(admin, one, entry)
                admin.catalog.write(partial(vault_marks.remove, vault_id=entry.id))
                # Before anybody reads what was erased since the backup.
                admin.opened.settle_vault(entry)
    admin.log.info("restore.done", {"kind": "vaults", "vaults": len(staged)})
    encrypted = {entry.owner: entry.encrypted for entry in admin.entries()}
    return RestoreResult(
        owners=tuple(one.owner for one in staged),
        kept=tuple(kept),
        erased=tuple(erased),
        authenticated=stage.authenticated,
        encrypted=all(encrypted[one.owner] for one in staged),
    )


@contextmanager
def _staged(
    home: Home,
    backup: Path,
    opening: BackupAccess,
    owners: Sequence[Owner] | None,
    *,
    protected: bool,
    encrypted: bool | None = None,
) -> Generator[_Stage]:
    """Yield the wanted vaults of a backup in a temporary folder, each verified; the backup is only read."""
    room = home.backups / f".{os.urandom(6).hex()}-restoring"
    make_private_folder(room)
    try:
        with opened_backup(backup, room) as folder:
            manifest = read_manifest(folder)
            is_plain = not any(part.encrypted for part in manifest.parts)
            if protected and is_plain and not opening.unauthenticated:
                raise Conflict(
                    f"{backup} is not authenticated: it is a backup of a plain home, so nobody can tell whether it was "
                    "changed since it was made; add --unauthenticated to restore it all the same"
                )
            stage(folder, room, manifest)
        keys = None if is_plain else _keys(room, opening)
        try:
            if keys:
                check_authentic(manifest, keys.manifest_key())
            found = _proven(room, manifest, keys, opening, owners)
            names = tuple(part.file for part in manifest.parts)
            of_files = {
                part.vault_id or CATALOG: keys.key(part.vault_id or CATALOG) if keys and part.encrypted else None
                for part in manifest.parts
                if part.file != KEYS_COPY
            }
            if encrypted is not None and manifest.whole:
                names, of_files = _recoded(room, manifest, keys, opening, encrypted=encrypted)
        finally:
            if keys:
                keys.close()
        yield _Stage(
            room=room,
            manifest=manifest,
            vaults=found,
            authenticated=keys is not None,
            names=names,
            keys=of_files,
            encrypted=keys is not None if encrypted is None else encrypted,
            extensions=next((unpack_extensions(room / one.file, room) for one in manifest.archives), None),
        )
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _recoded(
    room: Path, manifest: Manifest, keys: KeyStore | None, opening: BackupAccess, *, encrypted: bool
) -> tuple[tuple[str, ...], dict[str, bytes | None]]:
    """Give every copy of a home a key, or take it away; return the files that make up the home then, and their keys."""
    made = None if keys or not encrypted else _keys(room, opening, encryption="auto")
    held = keys or made
    parts = [part for part in manifest.parts if part.file != KEYS_COPY]
    given: dict[str, bytes | None] = {}
    try:
        for part in parts:
            vault_id = part.vault_id or CATALOG
            old = held.key(vault_id) if held and part.encrypted else None
            new = given[vault_id] = (old or held.make_key(vault_id)) if held and encrypted else None
            if old != new:
                recode_copy(room / part.file, old, new)
            if vault_id == CATALOG:
                mark_vaults(room / part.file, new, opening.settings.storage, opening.clock, encrypted=encrypted)
    finally:
        if made:
            made.close()
    return (*(part.file for part in parts), *((KEYS_COPY,) if encrypted else ())), given


def _keys(room: Path, opening: BackupAccess, encryption: Literal["auto", "off"] = "off") -> KeyStore:
    keys = KeyStore.open(
        Home(room),
        encryption=encryption,
        key_file=opening.settings.key_file,
        passphrase=opening.passphrase,
        environ=opening.environ,
        clock=opening.clock,
    )
    try:
        if opening.recovery_code is not None and encryption == "off":
            keys.recover(opening.recovery_code, passphrase=opening.passphrase)
        keys.unlock()
    except BaseException:
        keys.close()
        raise
    return keys


def _proven(
    room: Path, manifest: Manifest, keys: KeyStore | None, opening: BackupAccess, owners: Sequence[Owner] | None
) -> list[_Staged]:
    settings, clock = opening.settings.storage, opening.clock
    found: list[_Staged] = []
    for part in manifest.parts:
        key = keys.key(part.vault_id or CATALOG) if keys and part.encrypted else None
        check_copy(room / part.file, part.file, key, part.rows)
        # Before it is moved into place: programs that have the vault open expect their schema.
        if part.vault_id is not None:
            owner = upgrade_vault(room, part.vault_id, key, settings, clock)
            if owners is None or owner in owners:
                found.append(_Staged(owner=owner, vault_id=part.vault_id, file=room / part.file, key=key))
        elif part.file == copy_name(CATALOG):
            upgrade_catalog(room, key, settings, clock)
    if manifest.whole:
        _check_catalog(room, manifest, keys, found)
    for owner in owners or ():
        if owner not in [one.owner for one in found]:
            raise NotFound(f"{str(owner)!r} is not in that backup; name another owner, or another backup")
    return found


def _check_catalog(room: Path, manifest: Manifest, keys: KeyStore | None, found: Sequence[_Staged]) -> None:
    """Raise unless the catalog, by which a home opens its vaults, names each as it is."""
    part = next((one for one in manifest.parts if one.file == copy_name(CATALOG)), None)
    if part is None:
        raise Damaged("the backup has no catalog, although it claims to cover a whole home; use another backup")
    key = keys.key(CATALOG) if keys and part.encrypted else None
    entries = {entry.id: entry for entry in entries_in(room / part.file, key)}
    for one in found:
        entry = entries.get(one.vault_id)
        if entry is None or entry.owner != one.owner or entry.encrypted is not (one.key is not None):
            raise Damaged(f"{one.file.name} is not the vault that the catalog of the backup names; use another backup")


def _add(admin: HomeAdmin, one: _Staged, *, encrypted: bool) -> None:
    """Add a vault that was not here: key, file, and last the catalog row, which makes it visible."""
    made_id = IdMaker(admin.clock)("vlt")
    entry = VaultEntry(owner=one.owner, id=made_id, encrypted=encrypted, created_at=admin.clock())
    key = admin.keys.make_key(entry.id) if encrypted else None
    admin.engine.upkeep.put_vault(entry.id, key, one.file, one.key, chunk_terms)

    def change(tx: Tx) -> None:
        if people.find(tx, one.owner.person) is None:
            ensure_tenant(tx, DEFAULT_TENANT, admin.clock)
            person = Person(owner=one.owner.person, tenant=DEFAULT_TENANT, created_at=admin.clock())
            people.add(tx, person)
        vaults.add(tx, entry)

    admin.catalog.write(change)


def _replace(admin: HomeAdmin, one: _Staged, entry: VaultEntry) -> list[Path]:
    """Replace a vault; keep the old one as a backup if it is readable, else move its files aside."""
    is_there = admin.engine.place_of(entry.id) is not None
    try:
        saved = [back_up(admin, owners=[entry.owner]).path] if is_there else []
        key = admin.key_of(entry)
    except (Damaged, KeyProblem):
        saved = _set_aside(admin, entry)
        key = _key_again(admin, entry)
        is_there = False
    if not is_there:
        # A log without its database would be applied to the new one.
        saved += _set_aside(admin, entry)
    admin.engine.upkeep.put_vault(entry.id, key, one.file, one.key, chunk_terms)
    return saved


def _set_aside(admin: HomeAdmin, entry: VaultEntry) -> list[Path]:
    kept = admin.engine.upkeep.set_aside(entry.id, admin.clock())
    return [kept] if kept else []


def _key_again(admin: HomeAdmin, entry: VaultEntry) -> bytes | None:
    if entry.encrypted and not admin.keys.has_key(entry.id):
        return admin.keys.make_key(entry.id)
    return admin.key_of(entry)


def _lives(admin: HomeAdmin, entry: VaultEntry) -> bool:
    """Return whether a restore would replace something: a vault that opens, or might."""
    place = admin.engine.place_of(entry.id)
    return place is not None and place.bytes > 0
