"""Locates the state directory and the files in it."""

import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from recollectum.domain.errors import HomeError, InvalidInput, ReadOnly
from recollectum.home.files import make_private_folder

VARIABLE = "RECOLLECTUM_HOME"
#: Folders a person fills by hand, and a project may add to.
OVERRIDABLE = ("policies", "commands", "skills", "agents", "extensions")


@dataclass(frozen=True, slots=True)
class Home:
    """The state directory: one folder that holds everything Recollectum keeps."""

    root: Path

    @property
    def settings_file(self) -> Path:
        """What the person has set."""
        return self.root / "settings.toml"

    @property
    def legacy_settings_file(self) -> Path:
        """The same in its old JSON form; read only where there is no `settings_file`."""
        return self.root / "settings.json"

    @property
    def vaults(self) -> Path:
        """One database for each vault."""
        return self.root / "vaults"

    @property
    def locks(self) -> Path:
        """Lock files; they are never deleted."""
        return self.root / "locks"

    @property
    def backups(self) -> Path:
        """Copies made before a migration and on request."""
        return self.root / "backups"

    @property
    def reserve_file(self) -> Path:
        """Room kept back, so that a full disk still lets things be deleted."""
        return self.root / "reserve"

    def folder(self, name: str) -> Path:
        """The folder of one of the `OVERRIDABLE` names."""
        return self.root / check_folder(name)


def check_folder(name: str) -> str:
    """The name, when it is one of the folders a project may add to."""
    if name not in OVERRIDABLE:
        raise InvalidInput(f"{name!r} is not a folder of a home or project; use one of {', '.join(OVERRIDABLE)}")
    return name


def home_root(explicit: Path | None, environ: Mapping[str, str]) -> Path:
    """The folder that was asked for, else the one the environment names, else `~/.recollectum`."""
    account = _account_folder(environ)
    if explicit is not None:
        # An empty text and "." are one Path, and an empty variable on a command line is the likelier of the two.
        if explicit == Path():
            raise HomeError("the home that was given is empty or '.'; name a folder, such as ./recollectum-home")
        return _checked(_expand(explicit, account).absolute(), account, "the home that was given")
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return account / ".recollectum"
    root = _expand(Path(text), account)
    if not root.is_absolute():
        raise HomeError(f"{VARIABLE} is {text!r}, which means another home in each folder; write an absolute path")
    return _checked(root, account, VARIABLE)


def _account_folder(environ: Mapping[str, str]) -> Path:
    named = environ.get("USERPROFILE" if os.name == "nt" else "HOME", "")
    try:
        return Path(named) if named else Path.home()
    except RuntimeError as error:
        raise HomeError(f"this account has no home folder; set {VARIABLE} to an absolute path") from error


def _expand(path: Path, account: Path) -> Path:
    return account.joinpath(*path.parts[1:]) if path.parts and path.parts[0] == "~" else path


def _checked(root: Path, account: Path, what: str) -> Path:
    if "\0" in str(root):
        raise HomeError(f"{what} holds a NUL character; write a path without it")
    if root in (account, Path(root.anchor)):
        raise HomeError(
            f"{what} is {root}, which holds other things; name a folder of its own, such as {account}/.recollectum"
        )
    return root


def prepare(home: Home) -> None:
    """Make the folders of the home, private to this account, or say in one sentence why they cannot be."""
    _check_root(home.root)
    for folder in (home.root, home.vaults, home.locks, home.backups):
        try:
            make_private_folder(folder)
        except ReadOnly as error:
            raise HomeError(str(error)) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise HomeError(
                f"{folder} may not be written by this account, or is on a read-only file system; "
                f"correct its owner or mode, or choose another home with {VARIABLE}"
            )


def _check_root(root: Path) -> None:
    """Refuse what must not be made private: a file, or a folder that everybody shares, such as /tmp."""
    try:
        mode = root.stat().st_mode
    except OSError:
        # Missing, or out of sight: making it will say what is wrong.
        return
    if not stat.S_ISDIR(mode):
        raise HomeError(f"{root} is not a folder; move the file away, or choose another home with {VARIABLE}")
    if mode & stat.S_ISVTX:
        raise HomeError(f"{root} is shared by all accounts; name a folder of its own, such as {root / 'recollectum'}")
