"""Finds the project folder above the working directory, its id, and the files in it that override the home's."""

import hashlib
import os
import stat
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.home.paths import Home, check_folder

FOLDER = ".recollectum"
#: What marks the root of a project that has no `.recollectum` folder.
_REPOSITORY = ".git"


@dataclass(frozen=True, slots=True)
class ProjectFolder:
    """A project folder with its own settings and additions. Its content is untrusted."""

    root: Path

    @property
    def settings_file(self) -> Path:
        """The few settings that a project may change."""
        return self.root / FOLDER / "settings.toml"

    def folder(self, name: str) -> Path:
        """Return the folder of one of the `OVERRIDABLE` names."""
        return self.root / FOLDER / check_folder(name)

    @property
    def id(self) -> str:
        """The id of the project in a vault; it does not reveal the folder."""
        return project_id(self.root)

    def check_inside(self, path: Path) -> Path:
        """Return the path; raise when a link in it leads out of the project."""
        if not path.resolve().is_relative_to(self.root.resolve()):
            raise InvalidInput(f"{path} leads outside the project {self.root}; replace the link with what it points to")
        return path


def ignores_case(folder: Path) -> bool:
    """Return whether a folder is on a file system that takes capital and small letters as the same."""
    for path in (folder, *folder.parents):
        swapped = path.parent / path.name.swapcase()
        if swapped.name != path.name:
            try:
                return path.samefile(swapped)
            except OSError:
                return False
    return False


def hash_root(resolved: Path) -> str:
    """Return the SHA-256 of a resolved root."""
    return hashlib.sha256(os.fsencode(resolved)).hexdigest()


def project_id(root: Path, ignores: Callable[[Path], bool] = ignores_case) -> str:
    """Return the SHA-256 of a root: the same for every link and spelling that leads to the folder."""
    resolved = root.resolve()
    if ignores(resolved):
        # Such systems also keep one name in several forms of Unicode.
        return hashlib.sha256(unicodedata.normalize("NFC", str(resolved)).casefold().encode()).hexdigest()
    return hash_root(resolved)


def find_root(start: Path, home: Home, account_folder: Path) -> Path | None:
    """Return the root of the project that contains a folder: with a `.recollectum` folder, or a repository; or None.

    The account's own folder is no project: what is in it belongs to no single one.
    """
    marked = find_project(start, home)
    here = start.resolve()
    for folder in (here, *here.parents):
        if marked and folder == marked.root:
            return folder
        if folder in (account_folder.resolve(), Path(folder.anchor)):
            return None
        if (folder / _REPOSITORY).exists():
            return folder
    return None


def find_project(start: Path, home: Home, *, account: int | None = None) -> ProjectFolder | None:
    """Return the project that contains `start`, or None; `account` is the user id, if not this process's."""
    here = start.resolve()
    for folder in (here, *here.parents):
        if _is_project_folder(folder / FOLDER, home, account):
            return ProjectFolder(folder)
    return None


def _is_project_folder(path: Path, home: Home, account: int | None) -> bool:
    try:
        found = path.stat()
        return stat.S_ISDIR(found.st_mode) and _is_ours(found, account) and not _is_home(path, home)
    except OSError:
        return False


def _is_ours(found: os.stat_result, account: int | None) -> bool:
    """Return whether this account or root owns it: on a shared machine, a stranger's /tmp/.recollectum is not ours."""
    if os.name == "nt":
        return True
    account = os.geteuid() if account is None else account
    return account == 0 or found.st_uid in (0, account)


def _is_home(path: Path, home: Home) -> bool:
    """Return whether it is the home in use, or the default home that RECOLLECTUM_HOME replaces for now."""
    if path.resolve() == home.root.resolve():
        return True
    other = Home(path)
    return any(mark.exists() for mark in (other.vaults, other.locks, other.backups))


def overrides(home: Home, project: ProjectFolder | None, folder: str) -> dict[str, Path]:
    """Return each entry of the folder by name, the project's in place of the home's."""
    found = {entry.name: entry for entry in _entries(home.folder(folder))}
    if project is None:
        return found
    for entry in _entries(project.check_inside(project.folder(folder))):
        _check_entry(project, entry)
        found[entry.name] = entry
    return found


def _entries(folder: Path) -> Iterator[Path]:
    if folder.is_dir():
        # Hidden files are leftovers of editors and desktops.
        yield from sorted(entry for entry in folder.iterdir() if not entry.name.startswith("."))


def _check_entry(project: ProjectFolder, entry: Path) -> None:
    """Raise for what a hostile repository could plant: links that lead out, and special files."""
    for path in (entry, *_below(entry)):
        project.check_inside(path)
        if path != entry and path.is_symlink() and path.is_dir():
            # Its target was not checked, and could lead out.
            raise InvalidInput(f"{path} is a link to a folder; replace it with the folder itself")
        if not (path.is_file() or path.is_dir()):
            raise InvalidInput(f"{path} is neither a file nor a folder; take it out of the project")


def _below(entry: Path) -> Iterator[Path]:
    if entry.is_dir():
        for parent, folders, files in os.walk(entry):
            yield from (Path(parent, name) for name in (*folders, *files))
