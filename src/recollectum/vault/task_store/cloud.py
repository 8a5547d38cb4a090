"""Keeps objects in a bucket of S3, or in the memory of this process, by the package obstore."""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Any, cast

import obstore
from obstore.exceptions import (
    AlreadyExistsError,
    BaseError,
    PermissionDeniedError,
    PreconditionError,
    UnauthenticatedError,
)
from obstore.store import MemoryStore, S3Store

from recollectum.domain.errors import Denied, Unreachable
from recollectum.vault.task_store.objects import StoredObject, TaskUrl, already_stored

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ClientConfig, S3Config

_SECRETS = ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN")
_OPTIONS = ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3")
#: The most names that S3 deletes in one request.
_BATCH = 1000
_TIMEOUT = timedelta(seconds=60)
#: Stores in memory by name, which last as long as the process.
_IN_MEMORY: dict[str, MemoryStore] = {}


class CloudObjects:
    """The objects below one prefix of a store."""

    def __init__(self, store: "S3Store | MemoryStore", place: str, prefix: str) -> None:
        self._store = store
        self._place = place
        self._prefix = f"{prefix}/" if prefix else ""

    def create(self, name: str, data: bytes) -> bool:
        """Store an object that does not exist yet; return False when it exists."""
        try:
            with self._explained():
                # In one request: an interrupted upload in several parts would leave parts that no listing shows.
                obstore.put(self._store, self._prefix + name, data, mode="create", use_multipart=False)
        except (AlreadyExistsError, PreconditionError):
            return False
        except FileNotFoundError:
            raise self._no_bucket() from None
        return True

    def write(self, name: str, data: bytes) -> Callable[[], None]:
        """Store an object under a name that nobody else uses; it is durable at once."""
        self.create(name, data)
        return already_stored

    def settle(self, prefix: str) -> None:
        """Do nothing: a bucket loses no name."""

    def read(self, name: str) -> bytes | None:
        """Return an object; None when there is none."""
        try:
            with self._explained():
                return bytes(obstore.get(self._store, self._prefix + name).bytes())
        except FileNotFoundError:
            return None

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Return the objects below a prefix that ends in a slash, in any order."""
        with self._explained(missing=True):
            # Its type has an overload for a package that is not installed.
            found = cast("Any", obstore).list(self._store, prefix=self._prefix + prefix)
            pages = cast("Iterable[Sequence[ObjectMeta]]", found)
            for page in pages:
                for one in page:
                    name = one["path"].removeprefix(self._prefix)
                    yield StoredObject(name, one["size"], one["last_modified"])

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; one that does not exist is passed over."""
        waiting = [self._prefix + name for name in names]
        for start in range(0, len(waiting), _BATCH):
            try:
                with self._explained():
                    obstore.delete(self._store, waiting[start : start + _BATCH])
            except FileNotFoundError:
                self._delete_singly(waiting[start : start + _BATCH])

    def _delete_singly(self, paths: Sequence[str]) -> None:
        for path in paths:
            try:
                with self._explained():
                    obstore.delete(self._store, path)
            except FileNotFoundError:
                continue

    def _no_bucket(self) -> Unreachable:
        return Unreachable(f"there is no bucket for {self._place}; create it, then try again")

    @contextmanager
    def _explained(self, *, missing: bool = False) -> Generator[None, None, None]:
        try:
            yield
        except (AlreadyExistsError, PreconditionError):
            raise
        except FileNotFoundError:
            if missing:
                raise self._no_bucket() from None
            raise
        except (PermissionDeniedError, UnauthenticatedError):
            raise Denied(
                f"{self._place} refuses these credentials; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                "or check what they may do there"
            ) from None
        except (BaseError, ValueError, OSError) as error:
            # Not its text: it may show the headers of the request.
            raise Unreachable(
                f"{self._place} did not answer as a task store does ({type(error).__name__}); "
                "check the bucket, the region and AWS_ENDPOINT_URL, then try again"
            ) from None


def open_memory(url: TaskUrl) -> CloudObjects:
    """Open the store in memory that has this name."""
    store = _IN_MEMORY.setdefault(url.bucket, MemoryStore())
    return CloudObjects(store, str(url), url.path)


def open_s3(url: TaskUrl, environ: Mapping[str, str], secret: Callable[[str], str | None]) -> CloudObjects:
    """Open a bucket of S3, or of a server that speaks its protocol."""
    found = {name.lower(): environ[name] for name in (*_SECRETS, *_OPTIONS) if environ.get(name)}
    if not environ.get(_SECRETS[0]):
        found |= {name.lower(): value for name in _SECRETS if (value := secret(name))}
    endpoint = environ.get("AWS_ENDPOINT_URL_S3") or environ.get("AWS_ENDPOINT_URL") or ""
    options: ClientConfig = {"allow_http": endpoint.startswith("http://"), "timeout": _TIMEOUT}
    store = S3Store(
        url.bucket,
        config=cast("S3Config", found),
        client_options=options,
        retry_config={"max_retries": 3, "retry_timeout": _TIMEOUT},
    )
    return CloudObjects(store, str(url), url.path)
