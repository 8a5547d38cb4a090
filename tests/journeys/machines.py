"""A machine of a new user: an account folder, and the program as it is installed there, typed into as people do."""

import os
import shlex
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.doors.cli.terminals import PseudoTerminal

#: The program to try, such as the one of a built wheel in its own environment; else that of this environment.
PROGRAM = shlex.split(os.environ.get("RECOLLECTUM_PROGRAM", "")) or [sys.executable, "-m", "recollectum"]
#: Whether the program has an embedding model, so that it also finds what has no word in common.
SEMANTIC = os.environ.get("RECOLLECTUM_JOURNEY_SEARCH") == "semantic"
_PATIENCE_S = 120


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one line."""

    code: int
    out: str
    err: str


class Machine:
    """One account on one computer; `folder` is its home folder."""

    def __init__(self, folder: Path, **environ: str) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self._environ = {
            **os.environ,
            "HOME": str(folder),
            "XDG_CONFIG_HOME": str(folder / ".config"),
            "RECOLLECTUM_HOME": str(folder / ".recollectum"),
            "RECOLLECTUM_USER": "ada",
            "RECOLLECTUM_STORAGE__RESERVE_MIB": "0",
            "RECOLLECTUM_EMBEDDING__PROVIDER": "auto" if SEMANTIC else "none",
            "COLUMNS": "100",
            "TERM": "xterm",
            "NO_COLOR": "1",
            **environ,
        }

    @property
    def home(self) -> Path:
        """The home of Recollectum."""
        return self.folder / ".recollectum"

    def types(self, line: str, *, stdin: str = "") -> Answer:
        """Type one line into a shell whose output goes to a file, and return what it says."""
        done = subprocess.run(
            [*PROGRAM, *shlex.split(line)[1:]],
            input=stdin.encode(),
            capture_output=True,
            check=False,
            timeout=_PATIENCE_S,
            env=self._environ,
            cwd=self.folder,
        )
        return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())

    def does(self, line: str, *, stdin: str = "") -> str:
        """Type a line that must succeed; return its answer."""
        answer = self.types(line, stdin=stdin)
        assert answer.code == 0, (line, answer)
        return answer.out

    def sits_at(self, line: str) -> "Terminal":
        """Type a line at a terminal, where the program may ask."""
        return Terminal([*PROGRAM, *shlex.split(line)[1:]], self._environ, self.folder)


class Terminal(PseudoTerminal):
    """One program at a pseudo-terminal, read from where the last look ended."""

    def __init__(self, line: Sequence[str], environ: Mapping[str, str], folder: Path) -> None:
        super().__init__(line, environ, folder)
        self._seen = 0

    def waits_for(self, text: str) -> str:
        """Read until the text is shown after what was seen before; return what came up to it."""
        deadline = time.monotonic() + _PATIENCE_S
        while (place := self.shown.find(text, self._seen)) < 0:
            assert time.monotonic() < deadline, f"{text!r} was not shown in {self.shown!r}"
            assert self._read(), f"{text!r} was not shown in {self.shown!r}"
        before, self._seen = self.shown[self._seen : place], place + len(text)
        return before

    def types(self, text: str) -> None:
        """Type a line and press the return key."""
        self.press(f"{text}\n")
