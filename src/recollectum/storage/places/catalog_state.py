"""Says what the catalog of one place is, and what a move needs of it."""

from enum import Enum
from pathlib import Path
from typing import NamedTuple, Protocol

from recollectum.storage.port import Database, Tx


class CatalogState(Enum):
    """What the catalog of one place is."""

    #: There is none.
    MISSING = "missing"
    #: It is the catalog of the home, or one that nobody has used yet.
    USED = "used"
    #: A move is copying it.
    COMING = "coming"
    #: It was moved away.
    GONE = "gone"


class FoundCatalog(NamedTuple):
    """What the catalog of one place is, and how many changes were made in it.

    A move is counted too, so two places have the same number only if the catalog was moved from one to the other last.
    """

    state: CatalogState
    made: int


class CatalogPlace(Protocol):
    """The catalog of one place, as a side of a move; every transaction of one that is not used is refused."""

    def find(self) -> FoundCatalog:
        """Return what it is."""
        ...

    def prepare(self, room: Path) -> None:
        """Let it be one that is copied; create a missing one with the help of a folder. Refuse one that is used."""
        ...

    def opened(self) -> Database:
        """Open it, whatever it is."""
        ...

    def save_changes(self, tx: Tx, made: int, missing: int) -> None:
        """Take over how many changes were made, in one that is copied."""
        ...

    def leave(self, tx: Tx) -> None:
        """Mark it as moved away, in the transaction that ends the move; nobody else writes before that ends."""
        ...

    def enter(self) -> None:
        """Let a copied one be used; do nothing when it is used already."""
        ...
