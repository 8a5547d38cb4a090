"""One thread behind the answers: it does small steps until nothing is left, and whoever needs the end may wait."""

import threading
from collections.abc import Callable
from typing import TypeAlias

from recollectum.domain.errors import ModelError, StorageError

#: Does a little; False when nothing is left.
Step: TypeAlias = Callable[[], bool]


class Worker:
    """Runs steps in a thread that lives only while there is something to do."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._changed = threading.Condition()
        self._stopping = threading.Event()
        self._thread: threading.Thread | None = None
        self._asked = 0
        self._served = 0
        #: What ended the last run early, in words.
        self.trouble: str | None = None

    def start(self, step: Step) -> int:
        """Have the steps done, from now until nothing is left; a number to wait for."""
        with self._changed:
            self._asked += 1
            # One that is not alive was left behind by a fork, or by an error that nobody expected.
            if not (self._thread and self._thread.is_alive()) and not self._stopping.is_set():
                self._thread = threading.Thread(target=self._run, args=(step,), name=self._name, daemon=True)
                self._thread.start()
            return self._asked

    def wait(self, asked: int, seconds: float) -> bool:
        """Whether a run that began after that call of `start` came to its end in time."""
        with self._changed:
            return self._changed.wait_for(lambda: self._served >= asked, seconds)

    def pause(self, seconds: float) -> None:
        """Let others go first, for a step that finds them at the same work."""
        self._stopping.wait(seconds)

    def close(self) -> None:
        """End after the step in progress; what is left is done the next time."""
        self._stopping.set()
        with self._changed:
            thread = self._thread
        if thread:
            thread.join()

    def _run(self, step: Step) -> None:
        while True:
            with self._changed:
                asked = self._asked
            trouble = self._steps(step)
            with self._changed:
                self.trouble = trouble
                self._served = asked
                self._changed.notify_all()
                if self._asked == asked or self._stopping.is_set():
                    self._thread = None
                    return

    def _steps(self, step: Step) -> str | None:
        # Whatever stops it is told, and met again by the next question.
        try:
            while not self._stopping.is_set() and step():
                pass
        except (ModelError, StorageError) as error:
            return str(error)
        return None
