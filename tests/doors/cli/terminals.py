"""A terminal of our own with a command line in it: what is typed goes in, what is shown comes out."""

import os
import select
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Self

_PATIENCE_S = 60
_MOMENT_S = 0.5

# The terminal must be the one that controls the process, or Ctrl-C would reach nobody; and where the tests run behind
# a shell, that shell has told them to be deaf to it.
_LAUNCH = """
import fcntl, signal, sys, termios
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
signal.signal(signal.SIGINT, signal.default_int_handler)
from recollectum.doors.cli.main import main
sys.exit(main(sys.argv[1:]))
"""


class PseudoTerminal:
    """One program on a pseudo-terminal."""

    def __init__(self, line: Sequence[str], environ: Mapping[str, str], folder: Path | None = None) -> None:
        self._master, slave = os.openpty()
        self._process = subprocess.Popen(
            line, stdin=slave, stdout=slave, stderr=slave, start_new_session=True, env=environ, cwd=folder
        )
        os.close(slave)
        self.shown = ""

    def press(self, keys: str) -> None:
        """Press keys."""
        os.write(self._master, keys.encode())

    def end(self) -> int:
        """Read to the end; return the exit code."""
        while self._read():
            pass
        return self._process.wait(_PATIENCE_S)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._process.poll() is None:
            self._process.kill()
        self._process.wait()
        os.close(self._master)

    def _read(self) -> bool:
        ready, _, _ = select.select([self._master], [], [], _PATIENCE_S)
        if not ready:
            return False
        try:
            data = os.read(self._master, 65536)
        except OSError:
            # Nobody has the other side any more.
            return False
        self.shown += data.decode(errors="replace")
        return bool(data)


class Terminal(PseudoTerminal):
    """One command of this environment on a pseudo-terminal."""

    def __init__(self, *arguments: str, environ: dict[str, str] | None = None) -> None:
        wide = {**os.environ, "COLUMNS": "200", "TERM": "xterm", **(environ or {})}
        super().__init__([sys.executable, "-c", _LAUNCH, *arguments], wide)

    def wait_for(self, text: str) -> None:
        """Read until the text is shown."""
        deadline = time.monotonic() + _PATIENCE_S
        while text not in self.shown:
            assert time.monotonic() < deadline, f"{text!r} was not shown in {self.shown!r}"
            assert self._read(), f"{text!r} was not shown in {self.shown!r}"

    def settle(self) -> None:
        """Read until nothing more comes for a moment: a special key that comes before its reader waits is lost."""
        while select.select([self._master], [], [], _MOMENT_S)[0]:
            if not self._read():
                break
