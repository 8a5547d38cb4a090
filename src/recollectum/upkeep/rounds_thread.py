"""The two threads of upkeep, however many vaults there are: one works, one watches files."""

import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from recollectum.domain.errors import RecollectumError
from recollectum.upkeep.rounds import Duty, Upkeep
from recollectum.upkeep.rounds_list import WATCHING, WORKING, duties

_LONGEST_WAIT = 60.0
#: A round that comes seldom is asked more often whether its time has come: a machine that slept does not know.
_LONGEST_PACE = 600.0


class Lane:
    """A thread that makes some rounds in turn, each when its time has come."""

    def __init__(self, name: str, duties: Sequence[Duty], stop: threading.Event) -> None:
        self._duties = duties
        self._stop = stop
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        """Begin; nothing where there is no round to make."""
        if self._duties:
            self._thread.start()

    def join(self, seconds: float) -> bool:
        """Wait for its end; False when it takes longer."""
        if self._duties:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self, now: Callable[[], float] = time.monotonic) -> None:
        due = dict.fromkeys(range(len(self._duties)), now())
        while not self._stop.is_set():
            for place, duty in enumerate(self._duties):
                if due[place] <= now() and not self._stop.is_set():
                    # What went wrong in a vault is noted; this is a catalog that takes no writes now, and may again.
                    with suppress(RecollectumError, OSError):
                        duty.make()
                    due[place] = now() + min(duty.every.total_seconds(), _LONGEST_PACE)
            self._stop.wait(min(_LONGEST_WAIT, max(0.0, min(due.values()) - now())))


def start_lanes(upkeep: Upkeep) -> list[Lane]:
    """Begin upkeep; it ends after `upkeep.stop` is set."""
    lanes = [
        Lane("recollectum-upkeep", duties(upkeep, WORKING), upkeep.stop),
        Lane("recollectum-watch", duties(upkeep, WATCHING), upkeep.stop),
    ]
    for lane in lanes:
        lane.start()
    return lanes
