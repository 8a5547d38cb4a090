"""Saves keyed digests of the blocks that memory served, so that an echo without its marks is recognised."""

import re
import secrets
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta

from recollectum.context.served import ServedLine, blocks, digest
from recollectum.domain.errors import StorageError
from recollectum.storage.port import Database, Tx
from recollectum.storage.tables.content import served
from recollectum.storage.tables.content.served import ServedDigest
from recollectum.storage.tables.trail import meta
from recollectum.vault.clock import VaultClock

#: The number of digests that a vault keeps, and for how long.
MAX_BLOCKS, MAX_AGE = 2000, timedelta(days=90)
#: A digest that is younger than this is not saved again.
_RENEWED_AFTER = timedelta(days=30)
_KEY, _KEY_BYTES = "served_key", 32
_SOURCE = re.compile(r"\b(?:mem|msg)_[0-9a-z]{26}\b")


def find_key(tx: Tx) -> str | None:
    """Return the key of the vault's digests; None when it has none yet."""
    return meta.find(tx, _KEY)


def save_digests(database: Database, clock: VaultClock, texts: Iterable[tuple[str, datetime | None]]) -> None:
    """Save the digests of texts; a text with a time is left out if something was destroyed since it was read."""
    found = [(list(blocks(text)), at) for text, at in texts]

    def unknown(tx: Tx) -> bool:
        key, now = find_key(tx), clock.reading(tx).now
        digests = {one.digest for made, _ in found for one in _digests(key, made)} if key else set[bytes]()
        return not key or not digests <= served.known(tx, sorted(digests), now - _RENEWED_AFTER)

    def save(tx: Tx) -> None:
        key, now = find_key(tx), clock.reading(tx).now
        if key is None:
            key = secrets.token_hex(_KEY_BYTES)
            meta.save(tx, _KEY, key)
        destroyed = served.last_forgotten(tx)
        fresh = [made for made, at in found if at is None or destroyed is None or at > destroyed]
        digests = {one.digest: one for made in fresh for one in _digests(key, made)}
        served.save(tx, list(digests.values())[-MAX_BLOCKS:], now)
        served.trim(tx, MAX_BLOCKS, now - MAX_AGE)

    # A disk that takes no writes must not make the answer fail.
    with suppress(StorageError):
        if any(made for made, _ in found) and database.read(unknown):
            database.write(save)


def _digests(key: str, made: Iterable[Sequence[ServedLine]]) -> Iterator[ServedDigest]:
    for block in made:
        source = _SOURCE.search(block[0].words)
        yield ServedDigest(digest(key, block), digest(key, block[:2]), len(block), source[0] if source else "")
