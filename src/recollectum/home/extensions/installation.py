"""Installs, replaces and removes extensions, each in one step: a kill leaves the old one, the new one, or none.

The files are staged beside the others, synced, and renamed to a folder with their digest in its name. Writing the
register, which names that folder, is the one step that decides; what it does not name is removed by the next change.
"""

import os
import re
import shutil
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from recollectum.domain.errors import Conflict, InvalidInput, NotFound
from recollectum.domain.records import dataclass
from recollectum.home.extensions.contents import ExtensionContents, read_contents
from recollectum.home.extensions.manifest import GEMINI_NAME, NAME, version_order
from recollectum.home.extensions.register import FOLDER, Agreed, read_register, register_lock, save_register
from recollectum.home.extensions.unpacking import unpack
from recollectum.home.files import TEMPORARY, explain, make_private_folder, sync_folder
from recollectum.home.paths import Home

_STAGING = ".staging-"
_GONE = ".gone-"
_MARK = 16
_OURS = re.compile(rf"[a-z0-9-]+@[0-9a-f]{{{_MARK}}}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """What a person agreed to."""

    #: The token of the preview that was shown.
    token: str
    at: datetime
    #: Raises for files that may not be installed.
    check: Callable[[Path, ExtensionContents], object]

    def examine(self, root: Path, contents: ExtensionContents) -> None:
        """Raise unless these are the files that were shown, and may be installed."""
        if contents.token != self.token:
            raise Conflict(f"the files of {contents.manifest.name} changed since the preview; make a new preview")
        self.check(root, contents)


@contextmanager
def staged(home: Home, source: Path) -> Generator[tuple[Path, ExtensionContents]]:
    """Yield the files of a folder or archive in a private folder beside the extensions, and what they bring."""
    folder = home.folder(FOLDER)
    make_private_folder(folder)
    staging = folder / f"{_STAGING}{os.urandom(6).hex()}"
    try:
        make_private_folder(staging)
        unpack(source, staging)
        root = _root(staging)
        yield root, read_contents(root, source)
    finally:
        shutil.rmtree(staging, ignore_errors=True)


def _root(staging: Path) -> Path:
    """Return the folder with the manifest: archives often have one folder that holds everything."""
    inside = list(staging.iterdir())
    if len(inside) == 1 and inside[0].is_dir() and not any((staging / name).exists() for name in (NAME, GEMINI_NAME)):
        return inside[0]
    return staging


def install(home: Home, source: Path, agreement: Agreement) -> Agreed:
    """Install the files that a preview with this token showed, as a new extension."""
    with register_lock(home), staged(home, source) as (root, contents):
        agreed = read_register(home)
        name = contents.manifest.name
        if name in agreed:
            raise Conflict(f"{name} {agreed[name].version} is installed already; update it, or uninstall it first")
        agreement.examine(root, contents)
        made = _put(home, root, contents, agreed)
        entry = Agreed(
            name=name,
            version=contents.manifest.version,
            folder=made.name,
            source=str(source.absolute()),
            installed_at=agreement.at,
            files=contents.files,
        )
        save_register(home, {**agreed, name: entry})
        _clear(home, {**agreed, name: entry})
        return entry


def update(home: Home, name: str, source: Path, agreement: Agreement, *, downgrade: bool) -> Agreed:
    """Replace an extension by the files that a preview with this token showed; its switches stay."""
    with register_lock(home), staged(home, source) as (root, contents):
        agreed = read_register(home)
        before = agreed.get(name)
        if before is None:
            raise not_installed(name)
        check_successor(before, contents, downgrade=downgrade)
        agreement.examine(root, contents)
        made = _put(home, root, contents, agreed)
        entry = replace(
            before,
            version=contents.manifest.version,
            folder=made.name,
            source=str(source.absolute()),
            installed_at=agreement.at,
            files=contents.files,
        )
        now = {**agreed, name: entry}
        save_register(home, now)
        if before.folder != made.name:
            _discard(home.folder(FOLDER) / before.folder)
        _clear(home, now)
        return entry


def check_successor(before: Agreed, contents: ExtensionContents, *, downgrade: bool) -> None:
    """Raise when these files are another extension, or an older version that nobody asked for."""
    manifest = contents.manifest
    if manifest.name != before.name:
        raise InvalidInput(f"the files are of {manifest.name!r} and not of {before.name!r}; install them as a new one")
    if not downgrade and version_order(manifest.version) < version_order(before.version):
        raise Conflict(
            f"{before.name} {before.version} is installed, and {manifest.version} is older; add --downgrade to go back"
        )


def trust(home: Home, folder: str, agreement: Agreement) -> Agreed:
    """Agree to the files of a folder as they are, which a preview with this token showed."""
    with register_lock(home):
        agreed = read_register(home)
        path = home.folder(FOLDER) / folder
        contents = read_contents(path)
        agreement.examine(path, contents)
        name = contents.manifest.name
        before = agreed.get(name)
        if before and before.folder != folder:
            raise Conflict(f"{name} is installed from another folder; uninstall it first, or remove {path}")
        entry = Agreed(
            name=name,
            version=contents.manifest.version,
            folder=folder,
            source=before.source if before else None,
            installed_at=agreement.at,
            files=contents.files,
            enabled=before.enabled if before else True,
            projects=before.projects if before else {},
        )
        save_register(home, {**agreed, name: entry})
        return entry


def switch(home: Home, name: str, project: str | None, *, enabled: bool) -> Agreed:
    """Switch an extension on or off, everywhere or in the project of a key."""
    with register_lock(home):
        agreed = read_register(home)
        before = agreed.get(name)
        if before is None:
            raise not_installed(name)
        if project is None:
            entry = replace(before, enabled=enabled)
        else:
            entry = replace(before, projects={**before.projects, project: enabled})
        save_register(home, {**agreed, name: entry})
        return entry


def uninstall(home: Home, name: str) -> Agreed:
    """Remove an extension and its files."""
    with register_lock(home):
        agreed = read_register(home)
        if name not in agreed:
            raise not_installed(name)
        entry = agreed.pop(name)
        save_register(home, agreed)
        _discard(home.folder(FOLDER) / entry.folder)
        _clear(home, agreed)
        return entry


def not_installed(name: str) -> NotFound:
    """Return the refusal of a name that no extension has."""
    return NotFound(f"there is no installed extension {name!r:.80}; see: recollectum extensions list")


def _put(home: Home, root: Path, contents: ExtensionContents, agreed: Mapping[str, Agreed]) -> Path:
    """Give staged files the folder that the register will name."""
    named = {one.folder for one in agreed.values()}
    places = [home.folder(FOLDER) / f"{contents.manifest.name}@{mark}" for mark in _marks(contents)]
    for place in places:
        if _is_whole(place, contents):
            # The same files are there already.
            return place
    # Two, so that a folder that the register names is never touched before the register names another.
    place = next(one for one in places if one.name not in named)
    try:
        _discard(place)
        root.rename(place)
        sync_folder(place.parent)
    except OSError as error:
        raise explain(error, place) from error
    return place


def _marks(contents: ExtensionContents) -> tuple[str, str]:
    return contents.token[:_MARK], contents.token[_MARK : 2 * _MARK]


def _is_whole(place: Path, contents: ExtensionContents) -> bool:
    try:
        return place.is_dir() and read_contents(place).token == contents.token
    except InvalidInput:
        return False


def is_left_over(folder: Path, agreed: Mapping[str, Agreed]) -> bool:
    """Return whether a folder was made by an installation that was cut short."""
    if folder.name.startswith((_STAGING, _GONE)):
        return True
    if not _OURS.fullmatch(folder.name) or folder.name in {one.folder for one in agreed.values()}:
        return False
    try:
        # A folder that somebody made by hand has another digest, and is not ours to remove.
        return folder.name.partition("@")[2] in _marks(read_contents(folder))
    except InvalidInput:
        return False


def _clear(home: Home, agreed: Mapping[str, Agreed]) -> None:
    for path in home.folder(FOLDER).glob(TEMPORARY):
        path.unlink(missing_ok=True)
    for path in home.folder(FOLDER).iterdir():
        if path.is_dir() and not path.is_symlink() and is_left_over(path, agreed):
            _discard(path)


def _discard(folder: Path) -> None:
    """Remove a folder; it loses its name first, so that no half of it is taken for an extension."""
    if folder.is_symlink():
        folder.unlink(missing_ok=True)
    elif folder.is_dir():
        shutil.rmtree(folder.rename(folder.with_name(f"{_GONE}{os.urandom(6).hex()}")), ignore_errors=True)
