"""Holds the master key in a private file outside the data folder."""

import os
import stat
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from recollectum.domain.errors import HomeError, InvalidInput, KeyProblem, ReadOnly, WrongKey
from recollectum.domain.records import dataclass
from recollectum.home.files import PRIVATE_FOLDER, TEMPORARY, sync_folder, write_atomic
from recollectum.home.keys.wrapping import MasterKey

_MOST_BYTES = 1024
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_CURE = "restore the file, or run: recollectum encryption recover"


@dataclass(frozen=True, slots=True)
class KeyFile:
    """The path of the key file."""

    path: Path
    #: True for a file named after this home's id: it cannot hold another home's key.
    named_for_home: bool


def place(setting: str, home_id: str, environ: Mapping[str, str]) -> KeyFile:
    """Return the file that the setting names, or the one in this account's configuration folder."""
    if not setting:
        return KeyFile(_config_folder(environ) / "keys" / f"{home_id}.key", named_for_home=True)
    path = Path(setting).expanduser()
    if not path.is_absolute():
        raise InvalidInput(f"key_file is {setting!r}, which is a relative path; write an absolute one")
    return KeyFile(path, named_for_home=False)


def _config_folder(environ: Mapping[str, str]) -> Path:
    # The given environment first, because platformdirs reads only that of the process.
    named, account = Path(environ.get("XDG_CONFIG_HOME", "")), environ.get("HOME", "")
    if named.is_absolute():
        return named / "recollectum"
    if account and sys.platform == "linux":
        return Path(account) / ".config" / "recollectum"
    # Used only on macOS and Windows, for a home with a key file.
    from platformdirs import user_config_path  # noqa: PLC0415

    return user_config_path("recollectum", appauthor=False)


def find(path: Path) -> MasterKey | None:
    """Return the key in the file, or None when there is no file."""
    found = _find_all(path)
    return found[0] if found else None


def fetch_all(path: Path) -> list[MasterKey]:
    """Return the keys in the file: one, or two while the master key is being changed."""
    found = _find_all(path)
    if found is None:
        raise KeyProblem(f"the key of this home is held in the file {path}, which is not there; {_CURE}")
    return found


def _find_all(path: Path) -> list[MasterKey] | None:
    try:
        text = _read_private(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise KeyProblem(f"the key file {path} cannot be read ({error.strerror}); {_CURE}") from None
    found = MasterKey.all_from_text(text)
    if not found:
        raise WrongKey(f"{path} is not a key file of Recollectum; name another with key_file, or {_CURE}")
    return found


def put(path: Path, keys: Sequence[MasterKey]) -> None:
    """Replace the keys in a file that exists, and read them back; leave no copy that a killed attempt made."""
    known = [*fetch_all(path), *keys]
    try:
        write_atomic(path, "".join(f"{key.to_text()}\n" for key in keys).encode())
    except (ReadOnly, HomeError, OSError) as error:
        raise KeyProblem(f"the key file {path} cannot be written; make it and its folder writable") from error
    if fetch_all(path) != list(keys):
        raise KeyProblem(f"the key file {path} did not keep the key; look at its disk")
    for left in path.parent.glob(TEMPORARY):
        if any(key in known for key in _readable_keys(left)):
            left.unlink(missing_ok=True)


def _readable_keys(path: Path) -> list[MasterKey]:
    try:
        return MasterKey.all_from_text(_read_private(path))
    except (OSError, KeyProblem):
        # Another process has finished with it, or it is no file of ours.
        return []


def keep(file: KeyFile, master: MasterKey, home: Path) -> bool:
    """Store the key and read it back; False when the file had this key already."""
    check_outside(file.path, home)
    if not file.named_for_home:
        there = find(file.path)
        if there is not None and there != master:
            raise KeyProblem(f"{file.path} holds the key of something else; name another file with key_file")
        if there is not None:
            return False
    try:
        _make_folders(file.path.parent)
        write_atomic(file.path, f"{master.to_text()}\n".encode())
    except (ReadOnly, HomeError, OSError) as error:
        raise KeyProblem(
            f"the key file {file.path} cannot be written; name another place with key_file, "
            "give a passphrase by RECOLLECTUM_PASSPHRASE, or set encryption to off"
        ) from error
    if find(file.path) != master:
        raise KeyProblem(f"the key file {file.path} did not keep the key; name another place with key_file")
    return True


def drop(path: Path) -> None:
    """Remove the file; do nothing when it is gone already."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise KeyProblem(f"the old key file {path} cannot be removed ({error.strerror}); remove it yourself") from None


def check_outside(path: Path, home: Path) -> None:
    """Raise when the key file would be inside the data folder that it protects."""
    if path.resolve().is_relative_to(home.resolve()):
        raise InvalidInput(
            f"key_file {path} is inside the data folder {home}: anyone who copies the folder would have the key; "
            "name a file outside it"
        )


def _make_folders(folder: Path) -> None:
    """Create the missing folders of the path, private, and durable from the top down."""
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    for path in reversed(missing):
        path.mkdir(PRIVATE_FOLDER, exist_ok=True)
        sync_folder(path.parent)


def _read_private(path: Path) -> str:
    # O_NONBLOCK: a pipe at this path must be refused without blocking.
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0))
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode):
            raise KeyProblem(f"{path} is not a file; name the key file with key_file")
        if os.name == "posix" and found.st_mode & _OTHERS:
            raise KeyProblem(f"the key file {path} can be read by others; make it private: chmod 600 {path}")
        return os.read(handle, _MOST_BYTES).decode("ascii", "replace")
    finally:
        os.close(handle)
