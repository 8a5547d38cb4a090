"""Starts the test programs of this folder as processes of their own."""

import os
import signal
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def start(module: str, *arguments: str) -> subprocess.Popen[str]:
    """Run `python -m module` with its input and output piped, the output wide enough that it never waits for us."""
    path = os.pathsep.join([str(_ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    return subprocess.Popen(
        [sys.executable, "-m", module, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
        pipesize=1 << 20,
    )


def tell(child: subprocess.Popen[str], line: str) -> None:
    """Send one line to a program."""
    assert child.stdin is not None
    child.stdin.write(f"{line}\n")
    child.stdin.flush()


def hear(child: subprocess.Popen[str]) -> str:
    """The next line that a program prints."""
    assert child.stdout is not None
    line = child.stdout.readline()
    assert line, f"{child.args!r} ended without a word"
    return line.rstrip("\n")


def finish(child: subprocess.Popen[str]) -> list[str]:
    """Wait for the end of a program that is expected to succeed; what else it printed."""
    said, code = _end(child)
    assert code == 0, f"{child.args!r} ended with {code}"
    return said


def kill(child: subprocess.Popen[str]) -> list[str]:
    """End a program with no warning; what it had printed."""
    child.kill()
    said, code = _end(child)
    assert code == -signal.SIGKILL, f"{child.args!r} ended with {code} before it was killed"
    return said


def _end(child: subprocess.Popen[str]) -> tuple[list[str], int]:
    # Not `communicate`, which would miss what `hear` has read ahead.
    assert child.stdin is not None
    assert child.stdout is not None
    child.stdin.close()
    said = child.stdout.read().splitlines()
    child.stdout.close()
    return said, child.wait()


def run(module: str, *arguments: str) -> list[str]:
    """Run a program to its end; what it printed."""
    return finish(start(module, *arguments))
