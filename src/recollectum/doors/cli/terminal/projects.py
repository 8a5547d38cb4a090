"""Reads a project as a person types it: a name, an id, or a folder, which may be relative or begin with `~`."""

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from recollectum.domain.files.project import is_project_id, is_project_name

if TYPE_CHECKING:
    from recollectum.doors.remote.vault import ServedVault
    from recollectum.vault.vault import Vault


def project_place(text: str) -> str:
    """Return a project as a vault understands it: a name or an id as it is, a folder as an absolute path."""
    return text if is_project_name(text) or is_project_id(text) else absolute_folder(text)


def current_project(vault: "Vault | ServedVault") -> str | None:
    """Return the id of the project of the working directory, or None; a directory that is gone is in none."""
    try:
        found = vault.projects.find(str(Path.cwd()))
    except OSError:
        return None
    return found.id if found and found.name else None


def absolute_folder(folder: str) -> str:
    """Return a folder as an absolute path."""
    if not folder.strip():
        # It would be the working directory.
        return folder
    # An account that does not exist, as in `~nobody`, is the name of a folder here.
    with suppress(RuntimeError):
        return str(Path(folder).expanduser().absolute())
    return str(Path(folder).absolute())
