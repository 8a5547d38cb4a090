"""Keeps which project folders the person trusts: nothing in the folder of another project takes effect."""

import json
from datetime import datetime
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.home.files import explain, make_private_folder, read_regular, write_atomic
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder, find_project

_MOST_BYTES = 1 << 20
_VERSION = 1


def find_trusted(start: Path, home: Home) -> ProjectFolder | None:
    """Return the project that contains `start`, if the person trusts it; else None."""
    found = find_project(start, home)
    return found if found and is_trusted(home, found) else None


def is_trusted(home: Home, project: ProjectFolder) -> bool:
    """Return whether the person trusts a project; a damaged file trusts none."""
    try:
        return project.id in _read(home)
    except InvalidInput:
        return False


def set_trusted(home: Home, project: ProjectFolder, at: datetime | None) -> bool:
    """Trust a project from a time on, or with None no longer; return whether that changes anything."""
    try:
        make_private_folder(home.root)
        make_private_folder(home.locks)
        with Lock(home.locks / "trusted.lock"):
            known = _read(home)
            changed = (project.id in known) == (at is None)
            if changed:
                # The id alone: the file does not say where anybody works.
                others = {one: since for one, since in known.items() if one != project.id}
                kept = others if at is None else {**others, project.id: at.isoformat()}
                document = {"version": _VERSION, "trusted": dict(sorted(kept.items()))}
                write_atomic(home.trusted_file, json.dumps(document, indent=2).encode() + b"\n")
            return changed
    except OSError as error:
        raise explain(error, home.trusted_file) from None


def _read(home: Home) -> dict[str, str]:
    try:
        data = read_regular(home.trusted_file, _MOST_BYTES)
    except FileNotFoundError:
        return {}
    except OSError:
        raise InvalidInput(f"{home.trusted_file} cannot be read; check its permissions") from None
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        found = None
    fields = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    trusted = fields.get("trusted")
    if fields.get("version") != _VERSION or not isinstance(trusted, dict):
        raise InvalidInput(f"{home.trusted_file} is damaged; delete it, and trust your projects again")
    return {str(one): str(since) for one, since in cast("dict[object, object]", trusted).items()}
