"""Knows where the tasks of a home are stored, with which key, and erases those of a vault everywhere."""

import json
from collections.abc import Callable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, cast

from recollectum.domain.errors import Damaged, InvalidInput
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.home.files import read_regular, write_atomic
from recollectum.home.install_command import install_command
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.vault.task_store.objects import ObjectStore, TaskUrl, parse_url

if TYPE_CHECKING:
    from recollectum.storage.keystore import KeyStore
    from recollectum.vault.task_store.versions import TaskFiles

_MOST = 2**20
_WAIT = timedelta(seconds=10)


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskPlaces:
    """The task stores of one home: the one of the settings, and those that were used before."""

    home: Home
    keys: "KeyStore"
    #: The URL of the settings; empty is a folder of the home.
    url: str
    environ: Mapping[str, str]
    clock: Clock

    def current(self) -> TaskUrl:
        """Return where tasks are stored now."""
        return parse_url(self.url) if self.url else parse_url((self.home.root / "tasks").absolute().as_uri())

    def may_be_used(self) -> bool:
        """Return whether there may be tasks in the current store; False without one."""
        return bool(self.url) or (self.home.root / "tasks").is_dir()

    def files(self, vault_id: str, *, writing: bool = False) -> "TaskFiles":
        """Return the tasks of a vault in the current store; `writing` notes the place first, for a later purge."""
        url = self.current()
        if writing:
            self._note(str(url))
        return self._files(url, vault_id, self._key(vault_id, make=writing))

    def names(self, vault_id: str) -> list[str]:
        """Return the objects of a vault's tasks in every store that was used, each with its store."""
        return [f"{url} {name}" for url, objects in self._everywhere() for name in _names(objects, vault_id)]

    def erase(self, vault_id: str) -> int:
        """Delete every object of a vault's tasks in every store that was used; return how many."""
        erased = 0
        for _, objects in self._everywhere():
            names = _names(objects, vault_id)
            objects.delete(names)
            erased += len(names)
        return erased

    def _everywhere(self) -> list[tuple[str, ObjectStore]]:
        # The current one too: the list may be older, if it came from a backup.
        urls = self._noted()
        if self.may_be_used() and str(self.current()) not in urls:
            urls.append(str(self.current()))
        return [(url, open_objects(parse_url(url), self.environ, self._secret)) for url in urls]

    def _files(self, url: TaskUrl, vault_id: str, key: bytes | None) -> "TaskFiles":
        # Imported here: every home has these places, and few use them.
        from recollectum.vault.task_store.sealing import TaskSeal, check_compression  # noqa: PLC0415
        from recollectum.vault.task_store.versions import TaskFiles  # noqa: PLC0415

        check_compression()
        return TaskFiles(open_objects(url, self.environ, self._secret), TaskSeal(vault_id, key), vault_id)

    def _secret(self, name: str) -> str | None:
        from recollectum.home.credentials.store import Credentials  # noqa: PLC0415 - few stores need one

        return Credentials(self.home, self.keys, environ=self.environ, clock=self.clock).secret(name)

    def _key(self, vault_id: str, *, make: bool) -> bytes | None:
        """Return the key of a vault's tasks, which is made by the first save; None where the vault has no key."""
        if not self.keys.has_key(vault_id):
            return None
        # Before the first save there is nothing to read; any key finds nothing.
        return self.keys.task_key(vault_id, make=make) or bytes(32)

    @property
    def _register(self) -> Path:
        return self.home.root / "tasks.json"

    def _noted(self) -> list[str]:
        try:
            found: object = json.loads(read_regular(self._register, _MOST))
        except FileNotFoundError:
            return []
        except ValueError:
            found = None
        urls = cast("dict[str, object]", found).get("stores") if isinstance(found, dict) else None
        if not isinstance(urls, list):
            raise Damaged(f"{self._register} is damaged; restore it from a backup, or list the task stores in it again")
        return [str(url) for url in cast("list[object]", urls)]

    def _note(self, url: str) -> None:
        if url in self._noted():
            return
        with Lock(self.home.locks / "tasks.lock", timeout=_WAIT):
            known = self._noted()
            if url not in known:
                write_atomic(self._register, json.dumps({"version": 1, "stores": [*known, url]}, indent=2).encode())


def open_objects(url: TaskUrl, environ: Mapping[str, str], secret: Callable[[str], str | None]) -> ObjectStore:
    """Open the object store of a URL; `secret` returns a credential that the environment does not have."""
    # Imported by the URL that needs them: two of them need packages that are extras.
    try:
        if url.scheme == "file":
            from recollectum.vault.task_store.folder import FolderObjects  # noqa: PLC0415

            return FolderObjects(Path(url.path))
        if url.scheme == "gs":
            from recollectum.vault.task_store.google import open_bucket  # noqa: PLC0415

            return open_bucket(url, environ)
        from recollectum.vault.task_store.cloud import open_memory, open_s3  # noqa: PLC0415

        return open_memory(url) if url.scheme == "memory" else open_s3(url, environ, secret)
    except ImportError:
        package = "google-cloud-storage" if url.scheme == "gs" else "obstore"
        raise InvalidInput(
            f"a task store at {url.scheme}:// needs the package {package}; run: {install_command(package)}"
        ) from None


def _names(objects: ObjectStore, vault_id: str) -> list[str]:
    return sorted(one.name for one in objects.list(f"{vault_id}/"))
