"""Summarises and consolidates conversations in a background thread while a chat runs."""

import threading
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING

from recollectum.domain.errors import RecollectumError
from recollectum.domain.ids import Clock, system_clock
from recollectum.upkeep.rounds.timing import IdleTimer

if TYPE_CHECKING:
    from recollectum.vault.vault import Vault

#: Conversations read in one sweep; the rest waits for the next.
MOST = 20
#: How long to wait for the current conversation when the chat ends.
_PATIENCE_S = 2.0
_LONGEST_WAIT_S = 3600.0


class ChatUpkeep:
    """Sweeps in a background thread; the next start-up sweep finds what is left."""

    def __init__(self, vault: "Vault", idle_minutes: int, clock: Clock = system_clock) -> None:
        self._vault = vault
        self._clock = clock
        self._on = idle_minutes > 0
        self.timer = IdleTimer(timedelta(minutes=idle_minutes), self.sweep, clock)
        self._wake = threading.Event()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="upkeep", daemon=True)
        self._trouble: str | None = None
        #: The conversations with new messages since the last sweep.
        self._said_in: set[str] = set()

    def start(self) -> None:
        """Sweep once, and then whenever the timer fires; do nothing if the settings turn it off."""
        if self._on:
            self._thread.start()

    def turn(self, session_id: str) -> None:
        """Restart the timer after a message."""
        self._said_in.add(session_id)
        if self._on:
            self.timer.turn(session_id)
            self._wake.set()

    def stop(self) -> bool:
        """Stop after the current conversation; False when that takes too long."""
        self._over.set()
        self._wake.set()
        with suppress(RuntimeError):
            # It may never have been started.
            self._thread.join(_PATIENCE_S)
        return not self._thread.is_alive()

    def take_trouble(self) -> str | None:
        """Return once why the last sweep postponed something."""
        trouble, self._trouble = self._trouble, None
        return trouble

    def sweep(self, most: int = MOST) -> None:
        """Consolidate idle conversations one at a time, until none is left or the chat ends."""
        if not self._on:
            return
        reading = self._vault.admin.consolidation
        try:
            reading.note_idle()
            for _ in range(most):
                done = [] if self._over.is_set() else reading.work(limit=1)
                self._trouble = next((one.trouble for one in done if one.trouble), self._trouble)
                if not done:
                    break
            if not self._over.is_set():
                reading.end_idle()
        except RecollectumError as error:
            self._trouble = str(error)

    def summarise(self) -> None:
        """Summarise messages that have left the window, in each conversation that has grown."""
        try:
            while self._said_in and not self._over.is_set():
                self._vault.sessions.summaries.update(self._said_in.pop())
        except RecollectumError as error:
            self._trouble = str(error)

    def _run(self) -> None:
        self.sweep()
        while not self._over.is_set():
            self._wake.wait(self._seconds())
            self._wake.clear()
            if not self._over.is_set():
                self.summarise()
                self.timer.tick()

    def _seconds(self) -> float:
        due = self.timer.next_due()
        if due is None:
            return _LONGEST_WAIT_S
        return min(_LONGEST_WAIT_S, max(0.0, (due - self._clock()).total_seconds()))
