"""Keeps what a person agreed to: the folder and the digests of each extension, and where it is switched on."""

import json
from collections.abc import Mapping
from dataclasses import asdict, field
from datetime import datetime
from pathlib import Path
from typing import Any, cast

from recollectum.domain.errors import Damaged, InvalidInput, RecollectumError, SchemaNewer
from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder, read_regular, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder

FOLDER = "extensions"
FILE = "installed.json"
_FORM = 1
_MOST_BYTES = 64 * 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed:
    """An extension as the person agreed to it."""

    name: str
    version: str
    #: The name of its folder among the extensions.
    folder: str
    #: The absolute path that it was installed from.
    source: str | None
    installed_at: datetime
    #: The SHA-256 of each file, by its path.
    files: Mapping[str, str]
    enabled: bool = True
    #: Where a project differs from `enabled`, by the key of the project.
    projects: Mapping[str, bool] = field(default_factory=dict[str, bool])

    def is_enabled(self, project: ProjectFolder | None) -> bool:
        """Return whether it is switched on in a project, or outside of any."""
        return self.projects.get(project.id, self.enabled) if project and self.projects else self.enabled


def register_file(home: Home) -> Path:
    """Return the file of the register."""
    return home.folder(FOLDER) / FILE


def read_register(home: Home) -> dict[str, Agreed]:
    """Return what was agreed to, by the name of the extension."""
    path = register_file(home)
    try:
        found: object = json.loads(read_regular(path, _MOST_BYTES))
        document = cast("dict[str, Any]", found)
        form = document["form"]
        if form == _FORM:
            return {name: _agreed(name, fields) for name, fields in document["extensions"].items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError, InvalidInput):
        raise Damaged(
            f"{path} cannot be read, so no extension has an effect; restore it from a backup, or move it away and "
            "install the extensions again"
        ) from None
    raise SchemaNewer(f"{path} was written by a newer Recollectum (form {form!r:.20}); upgrade the program")


def save_register(home: Home, agreed: Mapping[str, Agreed]) -> None:
    """Replace the register in one step; hold `register_lock`."""
    extensions = {
        name: {**asdict(one), "installed_at": one.installed_at.isoformat()} for name, one in sorted(agreed.items())
    }
    make_private_folder(home.folder(FOLDER))
    write_atomic(register_file(home), json.dumps({"form": _FORM, "extensions": extensions}, indent=1).encode() + b"\n")


def agreed_files(home: Home) -> list[tuple[str, Path]]:
    """Return the register and the files that it names and that are there, by their names in the folder.

    Empty when there are none, or when the register cannot be read: a copy of the memories must not fail for it, and the
    doctor reports it.
    """
    try:
        agreed = read_register(home)
    except RecollectumError:
        return []
    folder = home.folder(FOLDER)
    named = sorted(f"{one.folder}/{name}" for one in agreed.values() for name in one.files)
    # A link is not what was agreed to.
    found = [(name, folder / name) for name in named if (folder / name).is_file() and not (folder / name).is_symlink()]
    return [(FILE, folder / FILE), *found] if agreed else []


def register_lock(home: Home) -> Lock:
    """Allow one change of extensions at a time, across all processes."""
    return Lock(home.locks / "extensions.lock")


def _agreed(name: str, fields: Mapping[str, Any]) -> Agreed:
    texts = [fields["name"], fields["version"], fields["folder"], *fields["files"].values(), *fields["projects"]]
    flags = [fields["enabled"], *fields["projects"].values()]
    source: object = fields["source"]
    fits = all(isinstance(one, str) for one in texts) and all(isinstance(one, bool) for one in flags)
    # A register that was written by hand must not lead out of the folder.
    leads_out = "/" in fields["folder"] or "\\" in fields["folder"] or fields["folder"].startswith(".")
    if not fits or leads_out or fields["name"] != name or not (source is None or isinstance(source, str)):
        raise ValueError(name)
    return Agreed(
        name=name,
        version=fields["version"],
        folder=fields["folder"],
        source=source,
        installed_at=datetime.fromisoformat(fields["installed_at"]),
        files=fields["files"],
        enabled=fields["enabled"],
        projects=fields["projects"],
    )
