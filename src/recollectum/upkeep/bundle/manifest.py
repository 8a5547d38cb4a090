"""Reads and writes the manifest of a bundle: its form, the vaults in it, and every file with its size and digest."""

import json
from typing import Any, cast

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, InvalidInput, RecollectumError, SchemaNewer
from recollectum.domain.records import dataclass

NAME = "manifest.json"
FORM = "recollectum-bundle"
VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledFile:
    """One file of a bundle."""

    path: str
    bytes: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundledVault:
    """One vault of a bundle, and the folder of its files."""

    owner: Owner
    folder: str


@dataclass(frozen=True, slots=True, kw_only=True)
class BundleManifest:
    """What a bundle contains."""

    #: The number of the schema that the rows have.
    schema: int
    vaults: tuple[BundledVault, ...]
    files: tuple[BundledFile, ...]

    def file(self, path: str) -> BundledFile | None:
        """Return the file of that path."""
        return next((one for one in self.files if one.path == path), None)


def to_bytes(manifest: BundleManifest) -> bytes:
    """Return the manifest as JSON."""
    document = {
        "form": FORM,
        "version": VERSION,
        "schema": manifest.schema,
        "vaults": [{"owner": str(one.owner), "folder": one.folder} for one in manifest.vaults],
        "files": [{"path": one.path, "bytes": one.bytes, "sha256": one.sha256} for one in manifest.files],
    }
    return (json.dumps(document, ensure_ascii=False, indent=1) + "\n").encode()


def from_bytes(data: bytes, newest: int) -> BundleManifest:
    """Return the manifest of some JSON; raise for another form, and for a newer version or schema than `newest`."""
    try:
        found = cast("dict[str, Any]", json.loads(data))
        if found["form"] != FORM:
            raise InvalidInput(f"the form of the bundle is {found['form']!r:.60} and not {FORM!r}; name another bundle")
        version, schema = int(found["version"]), int(found["schema"])
        if version > VERSION or schema > newest:
            raise SchemaNewer(
                f"the bundle was written by a newer Recollectum (version {version}, schema {schema}; this one knows "
                f"{VERSION} and {newest}); upgrade the program"
            )
        return BundleManifest(
            schema=schema,
            vaults=tuple(
                BundledVault(owner=Owner.parse(str(one["owner"])), folder=str(one["folder"])) for one in found["vaults"]
            ),
            files=tuple(
                BundledFile(path=str(one["path"]), bytes=int(one["bytes"]), sha256=str(one["sha256"]))
                for one in found["files"]
            ),
        )
    except RecollectumError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise Damaged(f"{NAME} of the bundle cannot be read; use another copy of it") from None
