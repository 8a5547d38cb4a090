"""Runs a request with an idempotency key once, and repeats its answer for a day.

It is not an operation with rules: the work itself passes the gate, and only ids and digests are stored here. The engine
offers it only for the caller's own person.
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
    """The requests that this process is running now."""

    def __init__(self) -> None:
        self._digests: set[bytes] = set()
        self._lock = threading.Lock()

    @contextmanager
    def alone(self, digest: bytes) -> Generator[None]:
        """Run only one request with the same key at a time."""
        with self._lock:
            if digest in self._digests:
                raise Conflict("the same request is still being handled; try again in a moment")
            self._digests.add(digest)
        try:
            yield
        finally:
            with self._lock:
                self._digests.discard(digest)


ANSWER_LIFETIME = timedelta(days=1)
Answer = Mapping[str, Json]


class Idempotency:
    """The idempotency keys of one caller."""

    def __init__(self, catalog: Database, owner: Owner | None, clock: Clock, running: InFlightRequests) -> None:
        self._catalog = catalog
        self._owner = owner
        self._clock = clock
        self._running = running

    def once(self, key: str, request: bytes, work: Callable[[], Answer]) -> tuple[Answer, bool]:
        """Run the work once; return its result and whether it was stored. Refuse a key that another request used."""
        owner = self._owner
        if owner is None:
            raise InvalidInput("no person is named for this request; name one")
        digest = hashlib.sha256(f"{owner}\n{key}".encode()).digest()
        # A keyed digest with a secret that is not stored, so that nobody can guess texts until one matches.
        asked = hmac.digest(key.encode(), request, "sha256")
        with self._running.alone(digest):
            known = self._catalog.write(lambda tx: self._begin(tx, digest, owner, asked))
            if known is not None:
                return json.loads(known), True
            try:
                answer = work()
            except RecollectumError:
                # Nothing was done, so the request may be repeated.
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
            raise Conflict("this idempotency key was used for another request; use a new one")
        return known.answer
