"""Reads and writes the manifest of a backup: its files, row counts and SHA-256 digests, without names of people."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from types import UnionType
from typing import Any, TypeAlias, cast

from recollectum.domain.errors import Damaged, InvalidInput, NotFound, SchemaNewer
from recollectum.domain.records import dataclass
from recollectum.home.files import read_regular, write_atomic
from recollectum.storage.copies import KEYS_COPY, MAC, copy_name, is_authentic, is_vault_id, manifest_mac
from recollectum.storage.engine import CATALOG
from recollectum.upkeep.backup.extension_files import NAME as EXTENSIONS

NAME = "manifest.json"
_FORM = 3
#: The form without other files than databases, which is still written where there are none.
_DATABASES_ONLY = 2
_BLOCK = 1 << 20
_MOST_BYTES = 64 << 20
_MOST_NAMED = 10
Kinds: TypeAlias = type | UnionType


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of a backup."""

    #: Relative to the backup's folder, with forward slashes.
    file: str
    #: The vault's id; None for the catalog and the keys.
    vault_id: str | None
    encrypted: bool
    schema: int
    rows: Mapping[str, int]
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class HomeArchive:
    """A tar file of a backup with other files of the home."""

    file: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """The list of everything in a backup."""

    made_at: datetime
    #: Whether it is a backup of the whole home, with its catalog; else of some vaults.
    whole: bool
    parts: tuple[Part, ...]
    #: The extensions, if there are any.
    archives: tuple[HomeArchive, ...] = ()
    #: Authenticates the other fields; None where nothing is encrypted.
    mac: str | None = None

    @property
    def vaults(self) -> tuple[Part, ...]:
        """The files that are vaults."""
        return tuple(part for part in self.parts if part.vault_id is not None)


def digest(path: Path) -> str:
    """Return the SHA-256 of a file that no database has open."""
    found = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(_BLOCK):
            found.update(block)
    return found.hexdigest()


def write(folder: Path, manifest: Manifest, key: bytes | None) -> None:
    """Write the manifest into the folder of a backup, authenticated by the key of the home if it has one."""
    document = _document(manifest)
    if key is not None:
        document[MAC] = manifest_mac(document, key)
    write_atomic(folder / NAME, json.dumps(document, indent=2).encode() + b"\n")


def check_authentic(manifest: Manifest, key: bytes) -> None:
    """Raise for a manifest that was changed."""
    if not is_authentic(_document(manifest), key):
        raise Damaged("the manifest of the backup does not belong to it; use another backup")


def _document(manifest: Manifest) -> dict[str, object]:
    document: dict[str, object] = {
        "recollectum_backup": _FORM if manifest.archives else _DATABASES_ONLY,
        **asdict(manifest),
        "made_at": manifest.made_at.isoformat(),
    }
    if manifest.mac is None:
        del document[MAC]
    if not manifest.archives:
        del document["archives"]
    return document


def read(folder: Path) -> Manifest:
    """Return the manifest of a backup; raise with the reason when it is invalid."""
    path = folder / NAME
    try:
        document: object = json.loads(read_regular(path, _MOST_BYTES))
    except FileNotFoundError:
        raise _no_backup(folder) from None
    except (OSError, ValueError, RecursionError, InvalidInput):
        raise _not_a_manifest(path) from None
    if not isinstance(document, dict):
        raise _not_a_manifest(path)
    fields = cast("dict[str, Any]", document)
    form = fields.pop("recollectum_backup", None)
    if isinstance(form, int) and form > _FORM:
        raise SchemaNewer(f"{path} was written by a newer Recollectum (form {form}, this one knows {_FORM}); upgrade")
    try:
        parts = tuple(Part(**part) for part in fields.pop("parts"))
        archives = tuple(HomeArchive(**one) for one in fields.pop("archives", ()))
        made_at = datetime.fromisoformat(fields.pop("made_at"))
        made = Manifest(parts=parts, archives=archives, made_at=made_at, **fields)
    except (AttributeError, KeyError, TypeError, ValueError):
        raise _not_a_manifest(path) from None
    if form != (_FORM if made.archives else _DATABASES_ONLY) or not _is_valid(made):
        raise _not_a_manifest(path)
    return made


def _is_valid(manifest: Manifest) -> bool:
    """Return whether every field has its type, and every file the one name that it can have."""
    names = [part.file for part in manifest.parts]
    encrypted = any(part.encrypted for part in manifest.parts)
    return (
        _are(((manifest.whole, bool), (manifest.mac, str | None)))
        and all(_is_valid_part(part) for part in manifest.parts)
        and all(_is_valid_archive(one) for one in manifest.archives)
        and len(manifest.archives) <= 1
        and len(set(names)) == len(names)
        and manifest.made_at.tzinfo is not None
        and (not encrypted or KEYS_COPY in names)
        and (not encrypted or manifest.mac is not None)
    )


def _is_valid_part(part: Part) -> bool:
    fields: tuple[tuple[object, Kinds], ...] = (
        *((part.file, str), (part.sha256, str), (part.encrypted, bool)),
        *((part.schema, int), (part.bytes, int), (part.rows, dict)),
    )
    if not _are(fields) or not _are((count, int) for count in part.rows.values()):
        return False
    if part.vault_id is None:
        return part.file in (copy_name(CATALOG), KEYS_COPY)
    return is_vault_id(part.vault_id) and part.file == copy_name(part.vault_id)


def _is_valid_archive(one: HomeArchive) -> bool:
    return one.file == EXTENSIONS and _are(((one.bytes, int), (one.sha256, str)))


def _are(fields: Iterable[tuple[object, Kinds]]) -> bool:
    return all(isinstance(value, kind) for value, kind in fields)


def _no_backup(folder: Path) -> NotFound:
    folders = {path.parent.name for path in folder.glob(f"*/{NAME}")}
    held = sorted(folders | {path.name for path in folder.glob("*.tar")})
    if not held:
        return NotFound(f"{folder} is not a backup: it has no {NAME}; name the folder that `recollectum backup` made")
    # The newest last, as their names are sorted by time.
    shown = ", ".join(held[-_MOST_NAMED:]) + (f" and {len(held) - _MOST_NAMED} older ones" * (len(held) > _MOST_NAMED))
    return NotFound(f"{folder} is not a backup but a folder of backups; name one of them: {shown}")


def _not_a_manifest(path: Path) -> Damaged:
    return Damaged(f"{path} cannot be read as the manifest of a backup; use another backup")
