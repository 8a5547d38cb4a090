"""Bring an older token file in: imported, read back, and only then destroyed; cut short anywhere, it goes on."""

import os
from dataclasses import dataclass
from pathlib import Path

from recollectum.domain.credential import CredentialName
from recollectum.domain.errors import Conflict, NotFound, RecollectumError
from recollectum.home.credentials.old_tokens import Old, read_old
from recollectum.home.credentials.store import Credentials
from recollectum.home.files import explain, make_private_folder, sync_file, sync_folder, write_all
from recollectum.home.locks import Lock
from recollectum.home.paths import Home

_BLOCK = 64 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """What came of it."""

    #: What the file had, all of which is kept now.
    names: list[CredentialName]
    #: Those of them that had been there already.
    known: list[CredentialName]


def import_tokens(home: Home, credentials: Credentials, path: Path) -> Imported:
    """Import the file and destroy it; run again after a crash, it finishes what was begun.

    The file's name says how far it is: its own, `.importing` while it is read, `.imported` once all is kept and proven.
    """
    begun, done = path.with_name(f"{path.name}.importing"), path.with_name(f"{path.name}.imported")
    make_private_folder(home.locks)
    with Lock(home.locks / "credentials-import.lock"):
        if not any(map(os.path.lexists, (path, begun, done))):
            raise NotFound(f"there is no token file at {path}; name the file that is to be imported")
        names: list[CredentialName] = []
        known: list[CredentialName] = []
        if os.path.lexists(done):
            destroy(done)
        # What was begun comes first; the older program may have written a new file since.
        for _ in range(2):
            if not os.path.lexists(begun):
                if not os.path.lexists(path):
                    break
                read_old(path)
                _rename(path, begun)
            old = _bring_in(credentials, begun, path)
            names += [name for name, _, _ in old[0]]
            known += old[1]
            _rename(begun, done)
            destroy(done)
    return Imported(names=sorted(set(names)), known=sorted(set(known)))


def destroy(path: Path) -> None:
    """Overwrite the file, and remove it. On a flash drive or a copying file system the old bytes may live on below."""
    try:
        file = os.open(path, os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        try:
            left = os.fstat(file).st_size
            while left > 0:
                size = min(left, _BLOCK)
                write_all(file, bytes(size))
                left -= size
            sync_file(file)
        finally:
            os.close(file)
        path.unlink()
        sync_folder(path.parent)
    except OSError as error:
        raise explain(error, path) from error


def _bring_in(credentials: Credentials, begun: Path, path: Path) -> tuple[list[Old], list[CredentialName]]:
    try:
        old = read_old(begun)
        known = [name for name, credential, _ in old if _is_known(credentials, begun, (name, credential))]
        credentials.save_all([one for one in old if one[0] not in known])
    except RecollectumError:
        # As it was, for a person to look at; unless the older program has made another since.
        if not os.path.lexists(path):
            _rename(begun, path)
        raise
    return old, known


def _is_known(credentials: Credentials, path: Path, one: tuple[CredentialName, object]) -> bool:
    name, credential = one
    kept = credentials.find(name.service, account=name.account, kind=name.kind)
    if kept is not None and kept != credential:
        raise Conflict(
            f"{path.name.removesuffix('.importing')} has another {name} than the one that is kept; "
            "nothing was imported, delete one of the two"
        )
    return kept is not None


def _rename(old: Path, new: Path) -> None:
    try:
        old.rename(new)
        sync_folder(new.parent)
    except OSError as error:
        raise explain(error, old) from error
