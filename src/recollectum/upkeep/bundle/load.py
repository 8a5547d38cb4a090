"""Makes vaults from a bundle, as they were: the same ids, times, versions, trust and history.

Everything is read and checked in a temporary folder first; a vault appears when it is complete.
"""

import json
import os
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple, cast

from recollectum.domain.access.owner import Owner
from recollectum.domain.access.person import DEFAULT_TENANT, Identity, Person
from recollectum.domain.errors import Conflict, Damaged, NotFound, RecollectumError
from recollectum.domain.ids import IdMaker
from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder
from recollectum.recall.index.chunk_terms import chunk_terms
from recollectum.recall.index.verification import rebuild_index
from recollectum.storage.copies import newest_schema
from recollectum.storage.copying.row_lines import change_vault, make_vault
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import people, vault_marks, vaults
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.storage.tables.erasure import receipts
from recollectum.storage.tables.erasure.receipts import StoredReceipt
from recollectum.upkeep.bundle.container import BundleReader, lines_in, open_bundle
from recollectum.upkeep.bundle.contents import EXPORTED, has_table
from recollectum.upkeep.bundle.manifest import NAME, BundledVault, BundleManifest, from_bytes
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.vault.access.people import ensure_tenant
from recollectum.vault.purge.environment import keep_vault_digest

#: Asks for the passphrase of an encrypted bundle.
AskPassphrase = Callable[[], str | None]
#: A manifest is a list of files; one that is larger than this is none.
_MANIFEST_BYTES = 1 << 28


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadResult:
    """What was made from a bundle."""

    owners: tuple[Owner, ...]
    memories: int
    messages: int


class _Staged(NamedTuple):
    entry: VaultEntry
    file: Path
    key: bytes | None
    identities: tuple[Identity, ...]
    receipts: tuple[Mapping[str, Any], ...]
    counts: Mapping[str, int]
    is_new: bool


def read_bundle(path: Path, passphrase: AskPassphrase = lambda: None) -> BundleManifest:
    """Return the manifest of a bundle."""
    with open_bundle(path, passphrase) as reader:
        return _manifest(reader)


def load_bundle(
    admin: HomeAdmin,
    path: Path,
    *,
    owners: Sequence[Owner] | None = None,
    passphrase: AskPassphrase = lambda: None,
) -> LoadResult:
    """Make the vaults of a bundle, or those of some owners; refuse when one of them has a vault here."""
    with open_bundle(path, passphrase) as reader:
        manifest = _manifest(reader)
        wanted = _wanted(manifest, owners)
        here = {entry.owner: entry for entry in admin.entries()}
        for one in wanted:
            if one.owner in here and not _is_empty(admin, here[one.owner]):
                raise Conflict(
                    f"{one.owner} has a vault here that is not empty; import without --mine, which adds to it, or "
                    "into another home"
                )
        with _room(admin) as room:
            staged = [_stage(admin, room, reader, manifest, one, here.get(one.owner)) for one in wanted]
            for one in staged:
                _put(admin, one)
    admin.log.info("bundle.loaded", {"vaults": len(staged)})
    return LoadResult(
        owners=tuple(one.entry.owner for one in staged),
        memories=sum(one.counts["memories"] for one in staged),
        messages=sum(one.counts["messages"] for one in staged),
    )


def _manifest(reader: BundleReader) -> BundleManifest:
    with reader.open(NAME) as file:
        return from_bytes(file.read(_MANIFEST_BYTES), newest_schema(VAULT))


def _wanted(manifest: BundleManifest, owners: Sequence[Owner] | None) -> list[BundledVault]:
    for owner in owners or ():
        if owner not in [one.owner for one in manifest.vaults]:
            raise NotFound(f"{str(owner)!r} is not in that bundle; name another owner, or another bundle")
    return [one for one in manifest.vaults if owners is None or one.owner in owners]


@contextmanager
def _room(admin: HomeAdmin) -> Generator[Path]:
    room = admin.home.backups / f".{os.urandom(6).hex()}-importing"
    make_private_folder(room / "vaults")
    make_private_folder(room / "backups")
    try:
        yield room
    finally:
        shutil.rmtree(room, ignore_errors=True)


def _is_empty(admin: HomeAdmin, entry: VaultEntry) -> bool:
    """Return whether nothing was ever kept in a vault, as in one that `recollectum init` made."""
    with admin.engine.upkeep.inspect(entry.id, admin.key_of(entry)) as vault:
        counts = vault.row_counts()
    return not any(counts.get(name) for name in EXPORTED if name != "meta")


def _stage(
    admin: HomeAdmin,
    room: Path,
    reader: BundleReader,
    manifest: BundleManifest,
    vault: BundledVault,
    here: VaultEntry | None,
) -> _Staged:
    """Make the file of one vault, under a key that it has only in this folder."""
    key = os.urandom(32) if admin.keys.enabled else None
    counts = dict.fromkeys(EXPORTED, 0)
    identities = _identities(reader, manifest, vault)
    made_id = IdMaker(admin.clock)("vlt")
    entry = here or VaultEntry(owner=vault.owner, id=made_id, encrypted=admin.keys.enabled, created_at=admin.clock())
    tables = [name for name in EXPORTED if has_table(name, manifest.schema)]
    lines = {name: _counted(_lines(reader, manifest, vault, f"tables/{name}.jsonl"), counts, name) for name in tables}
    file = make_vault(room, entry.id, entry.owner, key, schema=manifest.schema, lines=lines, clock=admin.clock)
    change_vault(room, entry.id, key, rebuild_index)
    stored = tuple(_receipt(line) for line in _lines(reader, manifest, vault, "receipts.jsonl"))
    return _Staged(entry, file, key, identities, stored, counts, is_new=here is None)


def _put(admin: HomeAdmin, one: _Staged) -> None:
    """Put a staged vault into the home: key, rows, and last the catalog row, which makes it visible."""
    if one.is_new:
        key = admin.keys.make_key(one.entry.id) if one.entry.encrypted else None
    else:
        admin.opened.release(one.entry.id)
        key = admin.key_of(one.entry)
    admin.engine.upkeep.put_vault(one.entry.id, key, one.file, one.key, chunk_terms)
    admin.catalog.write(partial(_add_entry, admin=admin, one=one))
    if not one.is_new:
        admin.catalog.write(partial(vault_marks.remove, vault_id=one.entry.id))
        admin.opened.settle_vault(one.entry)


def _add_entry(tx: Tx, admin: HomeAdmin, one: _Staged) -> None:
    person = one.entry.owner.person
    if people.find(tx, person) is None:
        ensure_tenant(tx, DEFAULT_TENANT, admin.clock)
        people.add(tx, Person(owner=person, tenant=DEFAULT_TENANT, created_at=admin.clock()))
    for identity in one.identities:
        # An address that belongs to somebody else here stays theirs.
        if people.owner_of(tx, identity) is None:
            people.link(tx, identity, person)
    if one.is_new:
        vaults.add(tx, one.entry)
    for receipt in one.receipts:
        if receipts.find(tx, receipt["id"]) is None:
            receipts.save(tx, StoredReceipt(vault=keep_vault_digest(tx, one.entry.id), **receipt))


def _lines(reader: BundleReader, manifest: BundleManifest, vault: BundledVault, name: str) -> Iterator[str]:
    """Yield the lines of one file of a vault."""
    listed = manifest.file(f"{vault.folder}/{name}")
    if listed is None:
        raise Damaged(f"the manifest does not list {vault.folder}/{name}; use another copy of the bundle")
    yield from lines_in(reader, listed)


def _counted(lines: Iterator[str], counts: dict[str, int], name: str) -> Iterator[str]:
    for line in lines:
        counts[name] += 1
        yield line


def _identities(reader: BundleReader, manifest: BundleManifest, vault: BundledVault) -> tuple[Identity, ...]:
    try:
        found = cast("dict[str, Any]", json.loads("".join(_lines(reader, manifest, vault, "vault.json"))))
        if found["owner"] != str(vault.owner):
            raise Damaged(f"vault.json in {vault.folder} names another owner than the manifest; use another copy")
        return tuple(Identity.parse(str(one)) for one in found["identities"])
    except RecollectumError:
        raise
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Damaged(f"vault.json in {vault.folder} cannot be read; use another copy of the bundle") from None


def _receipt(line: str) -> Mapping[str, Any]:
    try:
        found = cast("dict[str, Any]", json.loads(line))
        texts = {name: str(found[name]) for name in ("id", "state", "body")}
        return {**texts, "signature": bytes.fromhex(found["signature"])}
    except (ValueError, TypeError, KeyError, RecursionError):
        raise Damaged("a line of receipts.jsonl is not a receipt; use another copy of the bundle") from None
