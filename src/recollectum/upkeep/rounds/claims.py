"""Claims rounds for this server under a lease, so that of several servers one runs each.

There is no leader: each server asks the catalog what is due and claims it in the same statement. A lease is renewed
while the work goes on, released at its end, and taken over by another server after it has run out. Its time is the
database's, because the clocks of hosts differ.
"""

import secrets
from collections.abc import Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import NamedTuple

from recollectum.domain.errors import RecollectumError
from recollectum.home.locks import repeating
from recollectum.storage.port import Tx
from recollectum.storage.tables.catalog import rounds, vaults
from recollectum.storage.tables.catalog.rounds import RoundClaim, RoundRow
from recollectum.storage.tables.catalog.vaults import VaultEntry
from recollectum.upkeep.home_admin import HomeAdmin

#: So many vaults are claimed at once: few enough that another server finds work too.
BATCH = 16
_TOKEN_BYTES = 12


class ClaimedVault(NamedTuple):
    """A vault in which this server runs a round now, and the last run there."""

    entry: VaultEntry
    last: RoundRow | None


class Claims:
    """What this server has claimed of one round."""

    def __init__(self, admin: HomeAdmin, name: str, every: timedelta, lease: timedelta) -> None:
        self._admin = admin
        self._name = name
        self._every = every
        self._lease = lease
        self._token = secrets.token_hex(_TOKEN_BYTES)
        #: How far the time of the database is ahead of this host's.
        self._ahead = timedelta()
        self._has_claimed = False
        self._begun: datetime | None = None

    def now(self) -> datetime:
        """Return the time of the database."""
        return self._admin.clock() + self._ahead

    @property
    def begun(self) -> datetime:
        """When something was first claimed, or asked for."""
        return self._begun or self.now()

    def here(self, shared: datetime) -> datetime:
        """Return a time of the database as this host has it."""
        return shared - self._ahead

    def shared(self, here: datetime) -> datetime:
        """Return a time of this host as the database has it."""
        return here + self._ahead

    def take(
        self, marks: Mapping[str, str], visited: Collection[str], *, everything: bool = False
    ) -> list[ClaimedVault]:
        """Claim some of the vaults where the round is due."""

        def claim(tx: Tx) -> list[ClaimedVault]:
            found = rounds.claim(tx, self._wanted(tx, everything=everything), marks, visited, BATCH)
            entries = vaults.of(tx, found) if found else {}
            return [ClaimedVault(entries[vault_id], last) for vault_id, last in found.items()]

        taken = self._admin.catalog.claim(claim)
        self._has_claimed = self._has_claimed or bool(taken)
        return taken

    def take_home(self, *, everything: bool = False) -> "tuple[RoundRow | None] | None":
        """Claim the round of the whole home; return its last run in a tuple, or None when it is not due or free."""
        taken = self._admin.catalog.claim(
            lambda tx: rounds.claim_home(tx, self._wanted(tx, everything=everything)),
        )
        self._has_claimed = self._has_claimed or taken is not None
        return taken

    def finish(self, row: RoundRow, marks: Mapping[str, str]) -> bool:
        """Store a result; return False when the lease was lost, because another server has the round then."""
        return self._admin.catalog.claim(lambda tx: rounds.finish(tx, row, self._token, marks))

    def renew(self) -> None:
        """Extend the leases."""
        if self._has_claimed:
            clock, lease = self._admin.clock, self._lease
            self._admin.catalog.claim(lambda tx: rounds.renew(tx, self._token, tx.time(clock()) + lease))

    def release(self) -> None:
        """Release what was not finished."""
        if self._has_claimed:
            self._admin.catalog.claim(lambda tx: rounds.release(tx, self._token))

    def _wanted(self, tx: Tx, *, everything: bool) -> RoundClaim:
        here = self._admin.clock()
        now = tx.time(here)
        self._ahead = now - here
        self._begun = self._begun or now
        seconds = self._every.total_seconds()
        return RoundClaim(
            token=self._token,
            name=self._name,
            every_seconds=seconds,
            now=now,
            until=now + self._lease,
            everything=everything,
        )


@contextmanager
def claiming(admin: HomeAdmin, name: str, every: timedelta, lease: timedelta) -> Generator[Claims]:
    """Yield the claims of one round; renew them until the block ends, and then release what is left."""
    claims = Claims(admin, name, every, lease)
    with repeating(claims.renew, lease / 3):
        try:
            yield claims
        finally:
            # A database that cannot be reached now: the lease runs out by itself.
            with suppress(RecollectumError, OSError):
                claims.release()
