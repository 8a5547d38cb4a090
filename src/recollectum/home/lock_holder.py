"""Who holds a lock: what a holder writes into the lock file, for people to read, and whether it still lives."""

import json
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import cast

_STATE, _STARTED = 0, 19
_DEAD = frozenset("ZXx")


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that took a lock, and when."""

    pid: int
    #: The kernel's start time of the process, which tells it from a later one with its number; None where unknown.
    started: int | None
    acquired: datetime
    #: The name of the program. Its arguments are left out, because they can hold what a person said.
    command: str

    def encode(self) -> bytes:
        """One line of JSON."""
        fields = {"pid": self.pid, "started": self.started, "command": self.command}
        return json.dumps({**fields, "acquired": self.acquired.isoformat()}).encode() + b"\n"

    def lives(self) -> bool:
        """Whether the very process that wrote this is known to be running."""
        return self.started is not None and start_time(self.pid) == self.started


def this_process(now: datetime) -> Holder:
    """The calling process, as a holder from now on."""
    command = Path(sys.argv[0]).name if sys.argv else ""
    return Holder(os.getpid(), start_time(os.getpid()), now, command or "python")


def decode(data: bytes) -> Holder | None:
    """The holder that a lock file names; None when it is empty or half written."""
    try:
        found: object = json.loads(data)
        if not isinstance(found, dict):
            return None
        fields = cast("Mapping[str, object]", found)
        pid, started, command = fields["pid"], fields["started"], fields["command"]
        acquired = datetime.fromisoformat(str(fields["acquired"]))
    except (ValueError, KeyError):
        return None
    if not isinstance(pid, int) or pid <= 0 or not isinstance(started, int | None) or acquired.tzinfo is None:
        return None
    return Holder(pid, started, acquired, str(command))


def start_time(pid: int) -> int | None:
    """When the process started, in the kernel's ticks; None when it is dead or the system does not say."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(errors="replace")
    except OSError:
        return None
    # The program's name is in parentheses and may hold any character, so count from the last one.
    fields = text.rpartition(")")[2].split()
    return None if fields[_STATE] in _DEAD else int(fields[_STARTED])
