"""Keeps objects as files of a folder: written whole, durable, and created by one process only."""

import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from recollectum.domain.errors import Conflict
from recollectum.home.files import (
    PRIVATE_FILE,
    PRIVATE_FOLDER,
    TEMPORARY,
    explain,
    make_private_folder,
    sync_file,
    sync_folder,
    write_all,
)
from recollectum.vault.task_store.objects import StoredObject

_OF_A_PROCESS = TEMPORARY.partition("*")[0]
_ATTEMPTS = 5


class FolderObjects:
    """The objects in one folder. A file that a killed process was writing is listed under its temporary name."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def create(self, name: str, data: bytes) -> bool:
        """Store an object that does not exist yet; return False when it exists."""
        path = self._root / name
        if path.exists():
            return False
        created = _add_name(*self._written(path, data), path)
        if created:
            self.settle(name.rpartition("/")[0])
        return created

    def write(self, name: str, data: bytes) -> Callable[[], None]:
        """Write a file under a temporary name; the returned call waits for the disk and adds the name."""
        path = self._root / name
        file, temporary = self._written(path, data)

        def finish() -> None:
            _add_name(file, temporary, path)

        return finish

    def settle(self, prefix: str) -> None:
        """Make the names directly below a prefix durable."""
        folder = self._root / prefix
        try:
            sync_folder(folder)
        except FileNotFoundError:
            # Another process has replaced all of it, and the folder with it.
            return
        except OSError as error:
            raise explain(error, folder) from error

    def read(self, name: str) -> bytes | None:
        """Return an object; None when there is none."""
        path = self._root / name
        try:
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise explain(error, path) from error

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Return the objects below a prefix that ends in a slash, in any order."""
        top = self._root / prefix
        for folder, _, names in os.walk(top):
            below = Path(folder).relative_to(self._root).as_posix()
            for name in names:
                with suppress(FileNotFoundError):
                    found = (Path(folder) / name).stat()
                    modified = datetime.fromtimestamp(found.st_mtime, UTC)
                    yield StoredObject(f"{below}/{name}", found.st_size, modified)

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects, and the folders that become empty; one that does not exist is passed over."""
        folders: set[Path] = set()
        for name in names:
            path = self._root / name
            try:
                path.unlink()
            except FileNotFoundError:
                continue
            except OSError as error:
                raise explain(error, path) from error
            folders.add(path.parent)
        for folder in folders:
            with suppress(FileNotFoundError):
                sync_folder(folder)
            self._remove_empty(folder)

    def _written(self, path: Path, data: bytes) -> tuple[int, Path]:
        """Write a file under a temporary name beside a path; return it open, and that name."""
        temporary = path.with_name(TEMPORARY.replace("*", os.urandom(8).hex()))
        for _ in range(_ATTEMPTS):
            try:
                self._make_folder(path.parent)
                return _open_new(temporary, data), temporary
            except FileNotFoundError:
                # Somebody else deleted the folder while it was empty.
                continue
            except OSError as error:
                raise explain(error, path) from error
        raise Conflict(f"{path.parent} is deleted again and again by another program; stop that program first")

    def _make_folder(self, folder: Path) -> None:
        if folder.is_dir():
            return
        if not self._root.is_dir():
            make_private_folder(self._root)
        missing = [one for one in (folder, *folder.parents) if self._root in one.parents and not one.is_dir()]
        for one in reversed(missing):
            with suppress(FileExistsError):
                one.mkdir(PRIVATE_FOLDER)
            sync_folder(one.parent)

    def _remove_empty(self, folder: Path) -> None:
        while self._root in folder.parents:
            try:
                folder.rmdir()
            except OSError:
                # It holds other objects.
                return
            folder = folder.parent


def is_temporary(name: str) -> bool:
    """Return whether an object is a file that a process was writing."""
    return name.rpartition("/")[2].startswith(_OF_A_PROCESS)


def _open_new(temporary: Path, data: bytes) -> int:
    """Write a new file; return it open, so that an error of the disk reaches the call that waits for it."""
    file = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), PRIVATE_FILE)
    try:
        write_all(file, data)
        if sys.platform == "linux":
            # The disk begins to write, and does not wait for `sync_file`.
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
    except OSError:
        os.close(file)
        with suppress(OSError):
            temporary.unlink()
        raise
    return file


def _add_name(file: int, temporary: Path, path: Path) -> bool:
    """Give a written file its name once its bytes are on the disk; return False when the name exists."""
    try:
        try:
            # First: a later save takes a part that has a name for stored.
            sync_file(file)
        finally:
            os.close(file)
        # A link, because a rename would replace what another process has created meanwhile.
        os.link(temporary, path)
    except FileExistsError:
        return False
    except OSError as error:
        raise explain(error, path) from error
    finally:
        with suppress(OSError):
            temporary.unlink()
    return True
