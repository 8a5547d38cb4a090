"""Says what a task store needs of an object store, and reads the URL that names one."""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Protocol
from urllib.parse import unquote

from recollectum.domain.errors import SettingsError
from recollectum.domain.records import dataclass

_BUCKET = re.compile(r"[a-z0-9][a-z0-9._-]{1,61}[a-z0-9]")
_FORMS = "file:///path, s3://bucket/prefix, gs://bucket/prefix or memory://name"


@dataclass(frozen=True, slots=True)
class StoredObject:
    """An object as a listing shows it."""

    name: str
    size: int
    modified_at: datetime


class ObjectStore(Protocol):
    """Small objects by name. A reader sees a whole object or none; what `create` and `delete` did is durable."""

    def create(self, name: str, data: bytes) -> bool:
        """Store an object that does not exist yet; return False when it exists."""
        ...

    def write(self, name: str, data: bytes) -> Callable[[], None]:
        """Write an object under a name that nobody else uses; the returned call waits for the disk and adds the name.

        The call may run in another thread. The name is durable after `settle`.
        """
        ...

    def settle(self, prefix: str) -> None:
        """Make the names directly below a prefix durable."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return an object; None when there is none."""
        ...

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Return the objects below a prefix that ends in a slash, in any order."""
        ...

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; one that does not exist is passed over."""
        ...


def already_stored() -> None:
    """Wait for nothing: the object is durable."""


@dataclass(frozen=True, slots=True)
class TaskUrl:
    """The parts of a task store's URL."""

    scheme: str
    #: The bucket, or the name of a store in memory; empty for a folder.
    bucket: str
    #: The prefix of all names in a bucket, without slashes at its ends; or the path of a folder.
    path: str

    def __str__(self) -> str:
        """Return the URL in one spelling."""
        if self.scheme == "file":
            return Path(self.path).as_uri()
        return f"{self.scheme}://{self.bucket}" + (f"/{self.path}" if self.path else "")


def parse_url(url: str) -> TaskUrl:
    """Return the parts of a task store's URL; raise with the reason when it cannot be used."""
    scheme, mark, rest = url.partition("://")
    if not mark or scheme not in ("file", "s3", "gs", "memory"):
        shown = scheme + mark if mark else "without a scheme"
        raise SettingsError(f"the task store's URL is {shown!r}, which is not supported; write {_FORMS}")
    if "@" in rest or "?" in rest or "#" in rest:
        # The rest is not shown: it may hold a password.
        raise SettingsError(
            f"the task store's URL ({scheme}://) holds one of @, ? and #, which credentials and options need; "
            "write the bucket and the prefix alone, and put credentials into the environment"
        )
    if scheme == "file":
        return TaskUrl(scheme, "", _folder(rest))
    bucket, _, path = rest.partition("/")
    path = path.strip("/")
    if not (_BUCKET.fullmatch(bucket) or (scheme == "memory" and not bucket)):
        raise SettingsError(
            f"{bucket!r} is not the name of a bucket; write 3 to 63 lower-case letters, digits, dots and dashes"
        )
    if any(part in ("", ".", "..") for part in path.split("/")) and path:
        raise SettingsError(f"the prefix {path!r} of the task store has an empty part, '.' or '..'; leave it out")
    return TaskUrl(scheme, bucket, path)


def _folder(rest: str) -> str:
    host, _, path = rest.partition("/")
    folder = Path("/" + unquote(path))
    if host or not path.strip("/") or "\0" in str(folder) or ".." in folder.parts:
        raise SettingsError(
            "the task store's URL names no folder by an absolute path; write three slashes, such as file:///srv/tasks"
        )
    return str(folder)
