"""Locates the state directory and the files in it."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from recollectum.domain.errors import HomeError, InvalidInput, ReadOnly
from recollectum.domain.records import dataclass
from recollectum.home.files import make_private_folder

VARIABLE = "RECOLLECTUM_HOME"
#: Folders that a person fills by hand and a project may add to.
OVERRIDABLE = ("policies", "commands", "skills", "agents", "extensions")


@dataclass(frozen=True, slots=True)
class Home:
    """The state directory: one folder that holds everything Recollectum keeps."""

    root: Path

    @property
    def settings_file(self) -> Path:
        """The person's settings."""
        return self.root / "settings.toml"

    @property
    def legacy_settings_file(self) -> Path:
        """The settings in the old JSON form; read only where there is no `settings_file`."""
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
    def catalog_mark_file(self) -> Path:
        """How many changes of the catalog were seen, so that an older one is noticed."""
        return self.root / "catalog.mark"

    @property
    def postgres_mark_file(self) -> Path:
        """Says that the vaults are in a PostgreSQL database, so that none are looked for in files."""
        return self.root / "postgres.mark"

    @property
    def keys_mark_file(self) -> Path:
        """Says that the keys are in the database that `storage.keys_url` names, so that no new ones are made."""
        return self.root / "keys.mark"

    @property
    def host_file(self) -> Path:
        """The id of this home among those that use the same database."""
        return self.root / "host.json"

    @property
    def trusted_file(self) -> Path:
        """The ids of the projects whose folders may add settings, policies and the rest."""
        return self.root / "trusted_projects.json"

    @property
    def installation_file(self) -> Path:
        """The id of this installation."""
        return self.root / "installation.json"

    @property
    def erasures_file(self) -> Path:
        """What was erased from vaults on a server, whose own record may be put back with an older copy of it."""
        return self.root / "erasures.db"

    @property
    def split_mark_file(self) -> Path:
        """Says that vaults may be in a second place, of those that `storage.url` and `storage.second_url` name."""
        return self.root / "split.mark"

    @property
    def move_mark_file(self) -> Path:
        """Says where to all vaults are being moved, until that is finished."""
        return self.root / "move.mark"

    @property
    def mcp_file(self) -> Path:
        """The person's own MCP servers, which come before those of extensions."""
        return self.root / "mcp.json"

    @property
    def reserve_file(self) -> Path:
        """Reserved disk space, so that deletion still works on a full disk."""
        return self.root / "reserve"

    def folder(self, name: str) -> Path:
        """Return the folder of one of the `OVERRIDABLE` names."""
        return self.root / check_folder(name)


def check_folder(name: str) -> str:
    """Return the name; raise unless it is a folder that a project may add to."""
    if name not in OVERRIDABLE:
        raise InvalidInput(f"{name!r} is not a folder of a home or project; use one of {', '.join(OVERRIDABLE)}")
    return name


def home_root(explicit: Path | None, environ: Mapping[str, str]) -> Path:
    """Return the requested folder, else the one the environment names, else `~/.recollectum`."""
    account = _account_folder(environ)
    if explicit is not None:
        # An empty text and "." are the same Path, and an empty variable on a command line is more likely.
        if explicit == Path():
            raise HomeError("the home that was given is empty or '.'; name a folder, such as ./recollectum-home")
        return _checked(_expand(explicit, account).absolute(), account, "the home that was given")
    text = environ.get(VARIABLE, "").strip()
    if not text:
        return account / ".recollectum"
    root = _expand(Path(text), account)
    if not root.is_absolute():
        raise HomeError(f"{VARIABLE} is {text!r}, which is a relative path; write an absolute one")
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
            f"{what} is {root}, which contains other files; name a separate folder, such as {account}/.recollectum"
        )
    return root


#: The names that a home may have in it before its catalog is made.
_NAMES = {
    *OVERRIDABLE,
    *(
        "settings.toml",
        "settings.json",
        "mcp.json",
        "credentials.json",
        "spending.json",
        "reserve",
        "catalog.mark",
        "postgres.mark",
        "keys.mark",
        "split.mark",
        "move.mark",
        "host.json",
        "trusted_projects.json",
        "installation.json",
        "erasures.db",
        "tasks.json",
        "connection.json",
    ),
    *("vaults", "locks", "backups", "owners", "tasks", "logs", "run", "catalog.db", "keys.db"),
}
#: What systems put into folders by themselves.
_OF_THE_SYSTEM = (".DS_Store", "desktop.ini", "lost+found")


def check_not_foreign(root: Path) -> None:
    """Raise for a folder that is no home and holds other things."""
    try:
        names = sorted(path.name for path in root.iterdir())
    except OSError:
        # Missing or inaccessible: creating it will raise the right error.
        return
    if not {"catalog.db", "keys.db", "postgres.mark"}.isdisjoint(names):
        return
    own = (".recollectum-", "catalog.db", "keys.db")
    others = [name for name in names if name not in _NAMES and not name.startswith(own) and name not in _OF_THE_SYSTEM]
    if others:
        raise HomeError(
            f"{root} is not a home and contains other files, such as {others[0]!r}; "
            "name an empty folder or a new one, nothing was changed"
        )


def prepare(home: Home) -> None:
    """Create the folders of the home, private to this account; raise with the reason when that fails."""
    _check_root(home.root)
    check_not_foreign(home.root)
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
    """Raise for a path that must not be made private: a file, or a shared folder such as /tmp."""
    try:
        mode = root.stat().st_mode
    except OSError:
        # Missing or inaccessible: creating it will raise the right error.
        return
    if not stat.S_ISDIR(mode):
        raise HomeError(f"{root} is not a folder; move the file away, or choose another home with {VARIABLE}")
    if mode & stat.S_ISVTX:
        raise HomeError(f"{root} is shared by all accounts; name a separate folder, such as {root / 'recollectum'}")
