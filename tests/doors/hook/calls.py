"""Calls hooks as agents do: a process for each event, JSON in and JSON out."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import cast

from recollectum.home.locks import decode_holder

PROGRAM = [sys.executable, "-m", "recollectum.doors.hook"]


@dataclass(frozen=True, slots=True)
class Answered:
    """What came of one event."""

    code: int
    out: bytes
    #: From the start of the process to its end.
    seconds: float

    @property
    def context(self) -> str:
        """What the model is told; the output has to be valid either way."""
        found = cast("dict[str, dict[str, str]]", json.loads(self.out))
        return found.get("hookSpecificOutput", {}).get("additionalContext", "")


def event(name: str, conversation: str = "talk-1", **fields: object) -> dict[str, object]:
    """An event in the words of Claude Code."""
    return {"hook_event_name": name, "session_id": conversation, **fields}


def call(data: object, *flags: str, cwd: Path | None = None) -> Answered:
    """Send one event; bytes go as they are."""
    sent = data if isinstance(data, bytes) else json.dumps(data).encode()
    began = time.monotonic()
    done = subprocess.run([*PROGRAM, *flags], input=sent, capture_output=True, check=False, timeout=30, cwd=cwd)
    return Answered(done.returncode, done.stdout, time.monotonic() - began)


def patient(data: object, *flags: str) -> Answered:
    """Send one event and wait for its answer, also from an attendant that is still loading on a busy machine."""
    return call(data, "--within", "30000", *flags)


def attended() -> None:
    """Start the attendant, and wait until it answers."""
    assert patient(event("SessionStart", "the first")).context


@contextmanager
def no_attendant_left() -> Generator[None]:
    """End the attendant of this test's home afterwards, by the number it wrote down."""
    try:
        yield
    finally:
        lock = Path(os.environ["RECOLLECTUM_HOME"]) / "locks" / "hook.lock"
        holder = decode_holder(lock.read_bytes()) if lock.exists() else None
        if holder is not None and holder.lives():
            os.kill(holder.pid, 15)
