"""Keeps the erasure ledger of a database server in a second place too: with the keys, in the home or a keys database.

The catalog of a server that was put back from a base backup lacks what was erased since. The second place has it: what
only one of the two knows is given to the other, so that the rows are erased again before anybody reads them.
"""

from contextlib import AbstractContextManager, closing
from typing import NamedTuple

from recollectum.domain.errors import StorageError
from recollectum.domain.ids import Clock
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.storage.copying.database_file import create_file
from recollectum.storage.engine import CATALOG
from recollectum.storage.port import Database, Tx
from recollectum.storage.shared.key_place import KeyPlace
from recollectum.storage.tables.erasure import erased, receipts
from recollectum.storage.tables.erasure.erased import ErasedItem
from recollectum.storage.tables.erasure.receipts import StoredReceipt

_DONE = "done"


class _Ledger(NamedTuple):
    """What a catalog or a file knows of erasures."""

    secrets: dict[str, bytes]
    items: dict[tuple[bytes, bytes], ErasedItem]
    receipts: dict[str, StoredReceipt]


class HomeLedger:
    """The second ledger of one home: a database with the tables of a catalog, under the key of the catalog.

    It is the file `erasures.db`, or the catalog of the keys database, where every host adds to it.
    """

    def __init__(self, home: Home, place: KeyPlace, key: bytes | None, clock: Clock) -> None:
        self._home = home
        self._place = place
        self._key = key
        self._clock = clock

    def exists(self) -> bool:
        """Return whether anything was ever erased from this home on a server."""
        return self._place.is_shared or self._home.erasures_file.exists()

    def is_current(self, catalog: Database) -> bool:
        """Return whether both know of as much, and of the same last erasure."""
        with self._opened() as database:
            return database.read(_size) == catalog.read(_size)

    def sync(self, catalog: Database) -> None:
        """Give the catalog and the second ledger what only the other one knows."""
        with Lock(self._home.locks / "erasures.lock"), self._opened() as database:
            kept, stored = database.read(_read), catalog.read(_read)
            self._check(kept, stored)
            if unknown := _lacking(kept, stored):
                catalog.write(lambda tx: _add(tx, unknown), frees=True)
            if new := _lacking(stored, kept):
                database.write(lambda tx: _add(tx, new), frees=True)

    def _opened(self) -> AbstractContextManager[Database]:
        shared = self._place.ledger(self._key)
        return shared or closing(create_file(self._home.erasures_file, CATALOG, self._key, self._clock))

    @property
    def _words(self) -> str:
        return self._place.words if self._place.is_shared else str(self._home.erasures_file)

    def _check(self, kept: _Ledger, stored: _Ledger) -> None:
        """Raise for the ledger of another catalog: its digests mean nothing here."""
        if any(value != kept.secrets.get(name, value) for name, value in stored.secrets.items()):
            raise StorageError(
                f"{self._words} tells what was erased from another database than the one in storage.url; "
                f"name the right database{'' if self._place.is_shared else ', or move the file away'}"
            )


def _size(tx: Tx) -> tuple[object, ...]:
    return (*erased.size(tx), len(receipts.everything(tx)))


def _read(tx: Tx) -> _Ledger:
    return _Ledger(
        secrets=erased.secrets(tx),
        items={(one.vault, one.digest): one for one in erased.everything(tx)},
        receipts={one.id: one for one in receipts.everything(tx)},
    )


def _lacking(known: _Ledger, other: _Ledger) -> _Ledger | None:
    """Return what the other one lacks; None if nothing."""
    found = _Ledger(
        secrets={name: value for name, value in known.secrets.items() if name not in other.secrets},
        items={key: one for key, one in known.items.items() if key not in other.items},
        receipts={key: one for key, one in known.receipts.items() if _says_more(one, other.receipts.get(key))},
    )
    return found if any(found) else None


def _says_more(receipt: StoredReceipt, other: StoredReceipt | None) -> bool:
    return other is None or (receipt.state == _DONE != other.state)


def _add(tx: Tx, ledger: _Ledger) -> None:
    for name, value in ledger.secrets.items():
        erased.secret(tx, name, value)
    for one in ledger.items.values():
        erased.add(tx, one.vault, [one.digest], one.at)
    for receipt in ledger.receipts.values():
        receipts.save(tx, receipt)
