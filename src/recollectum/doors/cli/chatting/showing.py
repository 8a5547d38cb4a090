"""Where a reply is shown: on stdout as it comes in, with every control character spelled out, or nowhere."""

import sys

from recollectum.doors.cli.visible import visible


class Stream:
    """Shows a reply piece by piece."""

    def __init__(self) -> None:
        self._line_is_open = False

    def piece(self, text: str) -> None:
        """A part of the reply, so that nothing a model says can act on a terminal."""
        sys.stdout.write(visible(text))
        sys.stdout.flush()
        self._line_is_open = not text.endswith("\n")

    def end(self) -> None:
        """No more comes of it."""
        if self._line_is_open:
            print(flush=True)
        self._line_is_open = False


class Silence:
    """Shows nothing, where a program waits for the whole."""

    def piece(self, text: str) -> None:
        """Not shown."""

    def end(self) -> None:
        """Nothing to end."""
