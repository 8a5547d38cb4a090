"""Runs a request with an idempotency key once, and repeats its answer for a day.

It is no operation that rules know: the work passes the gate, and what is kept here are ids and digests. The engine
hands it out for the caller's own person alone.
"""

import hashlib
import hmac
import json
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import timedelta

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Conflict, InvalidInput, RecollectumError
from recollectum.domain.ids import Clock
from recollectum.domain.message import Json
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.catalog import repeats


class InFlightRequests:
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


ANSWER_LIFETIME = timedelta(days=1)
Answer = Mapping[str, Json]


class Idempotency:
    """What one caller asks once."""

    def __init__(self, catalog: Database, owner: Owner | None, clock: Clock, running: InFlightRequests) -> None:
        self._catalog = catalog
        self._owner = owner
        self._clock = clock
        self._running = running

    def once(self, key: str, request: bytes, work: Callable[[], Answer]) -> tuple[Answer, bool]:
        """What came of the work, and whether that was known; the same key with another request is refused."""
        owner = self._owner
        if owner is None:
            raise InvalidInput("nobody is named for whom this is asked; name a person")
        digest = hashlib.sha256(f"{owner}\n{key}".encode()).digest()
        # Keyed by a word that is not kept, so that nobody can try texts until one fits.
        asked = hmac.digest(key.encode(), request, "sha256")
        with self._running.alone(digest):
            known = self._catalog.write(lambda tx: self._begin(tx, digest, owner, asked))
            if known is not None:
                return json.loads(known), True
            try:
                answer = work()
            except RecollectumError:
                # Nothing was done: it may be asked again.
                self._catalog.write(lambda tx: repeats.drop(tx, digest))
                raise
            self._catalog.write(lambda tx: repeats.finish(tx, digest, json.dumps(answer)))
        return answer, False

    def _begin(self, tx: Tx, digest: bytes, owner: Owner, asked: bytes) -> str | None:
        now = self._clock()
        repeats.prune(tx, now - ANSWER_LIFETIME)
        known = repeats.find(tx, digest)
        if known is None:
            repeats.begin(tx, digest, owner, asked, now)
            return None
        if not hmac.compare_digest(known.request, asked):
            raise Conflict("this idempotency key was used for another request; take a new one")
        return known.answer
