"""What every service of a vault stands on: its database, gate, clock, ids and rules."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TypeVar

from recollect.domain.errors import StorageError
from recollect.domain.ids import IdMaker
from recollect.policy.clock import ClockState, Reading
from recollect.policy.lifecycle import Retention
from recollect.settings.model import Settings
from recollect.storage.port import Database, Tx
from recollect.storage.tables import memories
from recollect.vault.clock import VaultClock
from recollect.vault.gate import Gate

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Footing:
    """One caller at one vault."""

    database: Database
    gate: Gate
    clock: VaultClock
    ids: IdMaker
    retention: Retention
    settings: Settings

    @property
    def actor(self) -> str:
        """What events call the caller."""
        return self.gate.caller.name

    def read(self, work: Callable[[Tx, Reading], T]) -> T:
        """Run `work` in one snapshot, at the vault's time."""

        def run(tx: Tx) -> tuple[T, bool]:
            reading = self.clock.reading(tx)
            since = self.clock.kept_floor
            crossed = since is not None and memories.any_expired_between(tx, since, reading.now)
            return work(tx, reading), crossed

        value, crossed = self.database.read(run)
        if crossed:
            # A deadline was seen to pass: from now on no clock may say that it has not.
            # A disk that takes no writes must not make the answer fail.
            with suppress(StorageError):
                self.clock.noted(self.database.write(lambda tx: self.clock.note(tx, always=True)))
        return value

    def write(self, work: Callable[[Tx, Reading], T], *, frees: bool = False) -> T:
        """Run `work` in one durable transaction, at the vault's time."""

        def run(tx: Tx) -> tuple[T, ClockState | None]:
            reading = self.clock.reading(tx)
            return work(tx, reading), self.clock.note(tx)

        value, noted = self.database.write(run, frees=frees)
        self.clock.noted(noted)
        return value

    def for_session(self, session_id: str) -> "Footing":
        """The same, with a gate for one session."""
        return replace(self, gate=replace(self.gate, session_id=session_id))
