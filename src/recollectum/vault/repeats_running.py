"""The requests that one process is working on, so that none is worked on twice at a time."""

import threading
from collections.abc import Generator
from contextlib import contextmanager

from recollectum.domain.errors import Conflict


class Running:
    """The requests that this process is working on."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._lock = threading.Lock()

    @contextmanager
    def alone(self, digest: bytes) -> Generator[None]:
        """Let one request under a key run at a time."""
        with self._lock:
            if digest in self._digests:
                raise Conflict("the same request is being worked on; ask again in a moment")
            self._digests.add(digest)
        try:
            yield
        finally:
            with self._lock:
                self._digests.discard(digest)
