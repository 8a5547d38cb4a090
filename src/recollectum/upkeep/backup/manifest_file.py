"""Reads and writes the manifest of a backup: its files, row counts and SHA-256 digests, without names of people."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path, PurePosixPath
from typing import Any, cast

from recollectum.domain.errors import Damaged, NotFound, SchemaNewer
from recollectum.home.files import write_atomic

NAME = "manifest.json"
_FORM = 1
_BLOCK = 1 << 20


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
class Manifest:
    """The list of everything in a backup."""

    made_at: datetime
    #: Whether it is a backup of the whole home, with its catalog; else of some vaults.
    whole: bool
    parts: tuple[Part, ...]

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


def write(folder: Path, manifest: Manifest) -> None:
    """Write the manifest into the folder of a backup."""
    document = {"recollectum_backup": _FORM, **asdict(manifest), "made_at": manifest.made_at.isoformat()}
    write_atomic(folder / NAME, json.dumps(document, indent=2).encode() + b"\n")


def read(folder: Path) -> Manifest:
    """Return the manifest of a backup; raise with the reason when it is invalid."""
    path = folder / NAME
    try:
        document: object = json.loads(path.read_bytes())
    except FileNotFoundError:
        raise NotFound(
            f"{folder} is no backup: it has no {NAME}; name the folder that `recollectum backup` made"
        ) from None
    except (OSError, ValueError):
        raise _not_a_manifest(path) from None
    if not isinstance(document, dict):
        raise _not_a_manifest(path)
    fields = cast("dict[str, Any]", document)
    form = fields.pop("recollectum_backup", None)
    if isinstance(form, int) and form > _FORM:
        raise SchemaNewer(f"{path} was written by a newer Recollectum (form {form}, this one knows {_FORM}); upgrade")
    try:
        parts = tuple(Part(**part) for part in fields.pop("parts"))
        made = Manifest(parts=parts, made_at=datetime.fromisoformat(fields.pop("made_at")), **fields)
    except (KeyError, TypeError, ValueError):
        raise _not_a_manifest(path) from None
    if form != _FORM or not all(_stays_inside(part.file) for part in made.parts):
        raise _not_a_manifest(path)
    return made


def _stays_inside(name: str) -> bool:
    path = PurePosixPath(name)
    return not path.is_absolute() and ".." not in path.parts and "\\" not in name and "\0" not in name


def _not_a_manifest(path: Path) -> Damaged:
    return Damaged(f"{path} cannot be read as the manifest of a backup; use another backup")
