"""Ctrl-C while a reply comes in: it stops the reply, and never what is being recorded."""

import signal
import threading
from collections.abc import Generator
from contextlib import contextmanager
from types import FrameType


class Interrupts:
    """Takes Ctrl-C for one turn; only inside `allowed` does it interrupt, and only once."""

    def __init__(self) -> None:
        self._allowed = False

    @contextmanager
    def taken(self) -> Generator[None]:
        """For the length of the block, Ctrl-C is ours. Elsewhere than in the main thread nothing changes."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGINT, self._handle)
        try:
            yield
        finally:
            signal.signal(signal.SIGINT, before)

    @contextmanager
    def allowed(self) -> Generator[None]:
        """Inside, Ctrl-C raises KeyboardInterrupt."""
        self._allowed = True
        try:
            yield
        finally:
            self._allowed = False

    def _handle(self, number: int, frame: FrameType | None) -> None:
        del number, frame
        if self._allowed:
            self._allowed = False
            raise KeyboardInterrupt
