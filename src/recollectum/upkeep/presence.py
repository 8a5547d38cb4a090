"""Checks whether a home exists and has keys, without opening it: a hook may ask at every event."""

from recollectum.domain.errors import NotFound
from recollectum.home.paths import Home, check_not_foreign
from recollectum.storage.opening import (
    has_keys,
    has_vaults,
    is_made,
    place_of_catalog,
    place_of_keys,
    upgrade_databases,
)

__all__ = ["check_made", "has_keys", "has_vaults", "is_made", "place_of_catalog", "place_of_keys", "upgrade_databases"]


def check_made(home: Home) -> None:
    """Raise when the home does not exist."""
    if not is_made(home):
        check_not_foreign(home.root)
        raise NotFound(f"there is no home at {home.root} yet; make it with: recollectum init")
