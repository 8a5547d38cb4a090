"""Exports vaults into a bundle: rows as JSON lines, pages as Markdown, receipts, and a manifest with digests."""

import json
import os
import re
import shutil
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from recollectum.domain.access.owner import Owner
from recollectum.domain.records import dataclass
from recollectum.home.extensions.register import FOLDER as EXTENSIONS
from recollectum.home.extensions.register import agreed_files, register_lock
from recollectum.home.files import make_private_folder
from recollectum.storage.copies import newest_schema
from recollectum.storage.copying.database_file import table_list
from recollectum.storage.copying.row_copier import CopiedTable
from recollectum.storage.copying.row_lines import row_lines
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import backups_elsewhere, people
from recollectum.storage.tables.catalog.backups_elsewhere import BackupElsewhere
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.storage.tables.erasure import receipts
from recollectum.upkeep.bundle import pages
from recollectum.upkeep.bundle.container import BundleWriter, new_bundle
from recollectum.upkeep.bundle.contents import EXPORTED, SORTED, keeps_row
from recollectum.upkeep.bundle.manifest import NAME, BundledFile, BundledVault, BundleManifest, to_bytes
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.vault.purge.environment import find_vault_digest

#: Called with the number of files that were written since the last call.
FileProgress = Callable[[int], None]
#: Bytes of a file that are written at once.
_BLOCK = 65536
#: What the name of a folder does without.
_OTHER = re.compile("[^a-z0-9]+")
_README = """# A bundle of Recollectum

This folder holds everything that was remembered for the people in `manifest.json`, and can be read without Recollectum.

- `vaults/*/memories.md` and `vaults/*/conversations/` are for reading.
- `vaults/*/tables/*.jsonl` are the rows behind them, one JSON object a line. A field that is missing is empty; times
  are microseconds since 1970 in UTC; `{"base64": …}` holds bytes. `memories.jsonl` and `messages.jsonl` hold the texts.
- `vaults/*/receipts.jsonl` are the signed receipts of what was erased.
- `vaults/*/vault.json` says whose vault it was.
- `extensions/` has what others wrote for agents, where everybody's vaults were exported. An import leaves it out.
- `manifest.json` lists every file with its size and its SHA-256.

What can be made again from the texts is left out: the search index and its vectors. Keys, passwords and the rights of
other people are in no bundle. `recollectum import` reads it.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    """What an export wrote."""

    path: Path
    owners: tuple[Owner, ...]
    files: int
    bytes: int
    encrypted: bool


def export_bundle(
    admin: HomeAdmin,
    to: Path,
    *,
    owners: Sequence[Owner] | None = None,
    passphrase: str | None = None,
    progress: FileProgress = lambda _: None,
) -> ExportResult:
    """Write the vaults of some owners, or all, into a new folder or zip file; each is read in one snapshot."""
    entries = sorted(admin.entries(owners), key=lambda entry: str(entry.owner))
    tables = _tables(admin)
    with new_bundle(to, passphrase) as writer:
        work = _Export(admin, writer, tables, progress)
        work.add("README.md", [_README.encode()])
        vaults = [work.add_vault(number, entry) for number, entry in enumerate(entries, 1)]
        if owners is None:
            work.add_extensions()
        manifest = BundleManifest(schema=newest_schema(VAULT), vaults=tuple(vaults), files=tuple(work.files))
        writer.add(NAME, [to_bytes(manifest)])
    _record(admin, to, entries)
    return ExportResult(
        path=to,
        owners=tuple(entry.owner for entry in entries),
        files=len(work.files) + 1,
        bytes=sum(one.bytes for one in work.files),
        encrypted=passphrase is not None,
    )


class _Export:
    def __init__(
        self, admin: HomeAdmin, writer: BundleWriter, tables: Sequence[CopiedTable], progress: FileProgress
    ) -> None:
        self._admin = admin
        self._writer = writer
        self._tables = tables
        self._progress = progress
        self.files: list[BundledFile] = []

    def add(self, path: str, parts: "Iterator[bytes] | list[bytes]") -> None:
        self.files.append(self._writer.add(path, parts))
        self._progress(1)

    def add_vault(self, number: int, entry: VaultEntry) -> BundledVault:
        folder = f"vaults/{number:04}-{_slug(entry.owner)}"
        self.add(f"{folder}/vault.json", [self._described(entry)])
        self.add(f"{folder}/receipts.jsonl", [f"{line}\n".encode() for line in self._receipts(entry)])
        with self._admin.engine.upkeep.inspect(entry.id, self._admin.key_of(entry)) as vault:
            vault.read(lambda tx: self._add_rows(tx, folder))
        return BundledVault(owner=entry.owner, folder=folder)

    def add_extensions(self) -> None:
        """Add the files of extensions, which belong to the home and to no vault."""
        with register_lock(self._admin.home):
            for name, path in agreed_files(self._admin.home):
                self.add(f"{EXTENSIONS}/{name}", [path.read_bytes()])

    def _add_rows(self, tx: Tx, folder: str) -> None:
        for table in self._tables:
            lines = row_lines(tx, table, lambda row, name=table.name: keeps_row(name, row), sort=table.name in SORTED)
            self.add(f"{folder}/tables/{table.name}.jsonl", _blocks(lines))
        self.add(f"{folder}/memories.md", pages.memory_page(tx))
        for name, page in pages.conversation_pages(tx):
            self.add(f"{folder}/conversations/{name}", page)

    def _described(self, entry: VaultEntry) -> bytes:
        person = self._admin.catalog.read(lambda tx: people.find(tx, entry.owner.person))
        document = {
            "owner": str(entry.owner),
            "identities": [str(one) for one in person.identities] if person else [],
        }
        return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()

    def _receipts(self, entry: VaultEntry) -> list[str]:
        """Return the receipts of finished purges."""
        digest = find_vault_digest(self._admin.catalog, entry.id)
        if digest is None:
            return []
        stored = self._admin.catalog.read(lambda tx: receipts.everything(tx, digest))
        return [
            json.dumps(
                {"id": one.id, "state": one.state, "body": one.body, "signature": one.signature.hex()},
                ensure_ascii=False,
                sort_keys=True,
            )
            for one in stored
            if one.state != "pending"
        ]


def _tables(admin: HomeAdmin) -> tuple[CopiedTable, ...]:
    room = admin.home.backups / f".{os.urandom(6).hex()}-exporting"
    make_private_folder(room)
    try:
        listed = {table.name: table for table in table_list(room, VAULT, admin.clock)}
    finally:
        shutil.rmtree(room, ignore_errors=True)
    return tuple(listed[name] for name in EXPORTED)


def _record(admin: HomeAdmin, to: Path, entries: Sequence[VaultEntry]) -> None:
    """Record the bundle, so that the receipt of a later purge says that it still holds what was erased."""
    ids = tuple(entry.id for entry in entries)
    made = BackupElsewhere(place=str(to.resolve()), made_at=admin.clock(), vaults=ids)
    admin.catalog.write(lambda tx: backups_elsewhere.save(tx, made))


def _blocks(lines: Iterator[str]) -> Iterator[bytes]:
    block = bytearray()
    for line in lines:
        block += line.encode() + b"\n"
        if len(block) >= _BLOCK:
            yield bytes(block)
            block.clear()
    yield bytes(block)


def _slug(owner: Owner) -> str:
    return _OTHER.sub("-", str(owner).lower()).strip("-")[:40] or "vault"
