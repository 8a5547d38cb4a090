"""Runs our command line in this process, which is quick, or in one of its own, which is real."""

import io
import json
import subprocess
import sys
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from recollectum.doors.cli.main import main

PROGRAM = [sys.executable, "-m", "recollectum.doors.cli.main"]


@dataclass(frozen=True, slots=True)
class Answer:
    """What came of one command line."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """The one JSON object on stdout."""
        return json.loads(self.out)

    @property
    def word(self) -> str:
        """The one word on stdout: an id."""
        assert self.code == 0, self.err
        return self.out.strip()


def call(*arguments: str, stdin: bytes = b"") -> Answer:
    """Run one command line in this process, through the same edge as the real one."""
    out, err = _stream(), _stream()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(out), redirect_stderr(err):
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(stdin)), encoding="utf-8"))
        code = main(arguments)
    return Answer(code, _text(out), _text(err))


def ok(*arguments: str, stdin: bytes = b"") -> Answer:
    """The same, for what must succeed."""
    answer = call(*arguments, stdin=stdin)
    assert answer.code == 0, answer.err
    return answer


def refused(*arguments: str, code: int = 1, stdin: bytes = b"") -> str:
    """The one sentence with which a command line is refused."""
    answer = call(*arguments, stdin=stdin)
    assert answer.code == code, answer
    lines = answer.err.splitlines()
    assert len(lines) == 1, answer.err
    assert lines[0].startswith("recollectum: ")
    return lines[0].removeprefix("recollectum: ")


def spawn(
    *arguments: str, stdin: bytes = b"", environ: dict[str, str] | None = None, cwd: Path | None = None
) -> Answer:
    """Run one command line in a process of its own."""
    done = subprocess.run(
        [*PROGRAM, *arguments], input=stdin, capture_output=True, check=False, timeout=60, env=environ, cwd=cwd
    )
    return Answer(done.returncode, done.stdout.decode(), done.stderr.decode())


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True)


def _text(stream: io.TextIOWrapper) -> str:
    stream.flush()
    stream.seek(0)
    return stream.read()
