"""Keeps objects in a bucket of Google Cloud Storage, by Google's package: obstore cannot speak to its emulator."""

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any, cast

from google.api_core.exceptions import Forbidden, GoogleAPIError, NotFound, PreconditionFailed, Unauthorized
from google.auth.credentials import AnonymousCredentials
from google.auth.exceptions import GoogleAuthError
from google.cloud import storage  # pyright: ignore[reportMissingTypeStubs]
from requests.exceptions import RequestException

from recollectum.domain.errors import Denied, Unreachable
from recollectum.vault.task_store.objects import StoredObject, TaskUrl, already_stored

_TIMEOUT_SECONDS = 60
#: Without it, a client asks in a thread for the metadata of its bucket, only to add them to traces: a request that
#: nobody asked for, and that may outlive the call.
_METADATA_OFF = "DISABLE_GCS_PYTHON_CLIENT_OTEL_BUCKET_METADATA"


class GoogleObjects:
    """The objects below one prefix of a bucket."""

    # The package is typed only in part.
    def __init__(self, bucket: Any, place: str, prefix: str) -> None:  # noqa: ANN401
        self._bucket = bucket
        self._place = place
        self._prefix = f"{prefix}/" if prefix else ""

    def create(self, name: str, data: bytes) -> bool:
        """Store an object that does not exist yet; return False when it exists."""
        blob = self._bucket.blob(self._prefix + name)
        try:
            with self._explained():
                # Generation 0 is that of an object that does not exist.
                blob.upload_from_string(
                    data,
                    content_type="application/octet-stream",
                    if_generation_match=0,
                    checksum="crc32c",
                    timeout=_TIMEOUT_SECONDS,
                )
        except PreconditionFailed:
            return False
        except NotFound:
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
                return bytes(self._bucket.blob(self._prefix + name).download_as_bytes(timeout=_TIMEOUT_SECONDS))
        except NotFound:
            return None

    def list(self, prefix: str) -> Iterator[StoredObject]:
        """Return the objects below a prefix that ends in a slash, in any order."""
        try:
            with self._explained():
                for blob in self._bucket.list_blobs(prefix=self._prefix + prefix, timeout=_TIMEOUT_SECONDS):
                    modified: datetime = blob.updated or datetime.fromtimestamp(0, UTC)
                    name: str = blob.name
                    yield StoredObject(name.removeprefix(self._prefix), int(blob.size or 0), modified.astimezone(UTC))
        except NotFound:
            raise self._no_bucket() from None

    def delete(self, names: Iterable[str]) -> None:
        """Delete objects; one that does not exist is passed over."""
        for name in names:
            try:
                with self._explained():
                    self._bucket.blob(self._prefix + name).delete(timeout=_TIMEOUT_SECONDS)
            except NotFound:
                continue

    def _no_bucket(self) -> Unreachable:
        return Unreachable(f"there is no bucket for {self._place}; create it, then try again")

    @contextmanager
    def _explained(self) -> Generator[None, None, None]:
        try:
            yield
        except (PreconditionFailed, NotFound):
            raise
        except (Forbidden, Unauthorized):
            raise Denied(
                f"{self._place} refuses these credentials; set GOOGLE_APPLICATION_CREDENTIALS, "
                "or check what they may do there"
            ) from None
        except (GoogleAPIError, GoogleAuthError, RequestException, OSError) as error:
            raise Unreachable(
                f"{self._place} did not answer as a task store does ({type(error).__name__}); "
                "check the bucket and the network, then try again"
            ) from None


def open_bucket(url: TaskUrl, environ: Mapping[str, str]) -> GoogleObjects:
    """Open a bucket; the credentials are Google's own, of the environment. An emulator needs none."""
    emulator = environ.get("STORAGE_EMULATOR_HOST")
    os.environ[_METADATA_OFF] = "true"
    try:
        client = (
            storage.Client(
                project="emulator", credentials=AnonymousCredentials(), client_options={"api_endpoint": emulator}
            )
            if emulator
            else storage.Client()
        )
    except (GoogleAuthError, OSError) as error:
        raise Denied(
            f"there are no credentials for {url} ({type(error).__name__}); set GOOGLE_APPLICATION_CREDENTIALS"
        ) from None
    return GoogleObjects(cast("Any", client).bucket(url.bucket), str(url), url.path)
