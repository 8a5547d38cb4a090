"""Answers one hook event within its time limit: reads stdin, asks a server process, prints JSON, exits with 0.

It always ends with 0 and prints JSON: what it has when its time is up, or `{}`. Another process does the work: the
daemon if one runs, else a hook worker, which the first event starts and which stays for a while. So this file imports
as little as possible.
"""

import json
import os
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

from recollectum.domain.records import dataclass

#: The default time from the start of the process to its answer, in milliseconds.
WITHIN = 240
_LONGEST = 60_000
_MOST_TOKENS = 100_000
#: The assumed age on a system that does not say when a process started.
_UNKNOWN_START = 0.05
_LEAST = 0.06
#: A larger event is a mistake or a flood.
MAX_EVENT = 8 * 2**20
_NOTHING = b"{}\n"
#: At these events nothing is injected, so nobody needs to wait for an answer.
_SILENT = frozenset({"stop", "afteragent", "afteragentresponse", "precompact", "precompress", "sessionend"})


@dataclass(frozen=True, slots=True)
class HookFlags:
    """The flags of a hook's command line."""

    agent: str = "claude-code"
    user: str | None = None
    home: str | None = None
    tokens: int | None = None
    #: How long the agent may wait, in milliseconds.
    within: int = WITHIN


def parse_hook_flags(arguments: Sequence[str]) -> HookFlags:
    """Parse the flags, each with its value; ignore unknown ones, because a hook must not fail."""
    given: dict[str, str] = {}
    left = list(arguments)
    while left:
        name, joined, value = left.pop(0).partition("=")
        if name.startswith("--"):
            given[name[2:]] = value if joined or not left else left.pop(0)
    return HookFlags(
        agent=given.get("agent") or "claude-code",
        user=given.get("user") or None,
        home=given.get("home") or None,
        tokens=_number(given.get("tokens", ""), _MOST_TOKENS),
        within=_number(given.get("within", ""), _LONGEST) or WITHIN,
    )


def _number(text: str, most: int) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 9 and 0 < int(text) <= most else None


def main(arguments: Sequence[str]) -> None:
    """Answer one event and end the process, always with 0."""
    answer = answer_event(parse_hook_flags(arguments), os.environ, sys.stdin.buffer)
    try:
        sys.stdout.buffer.write(answer)
        sys.stdout.buffer.flush()
    except OSError:
        # The agent is gone, and needs no answer.
        pass
    # Not a normal exit, which would wait for work that is stuck.
    os._exit(0)


def answer_event(line: HookFlags, environ: Mapping[str, str], events: BinaryIO) -> bytes:
    """Return the answer to the event on a stream, within the rest of this process's time."""
    return answer_within(line, environ, events, max(_LEAST, line.within / 1000 - _process_age()))


def answer_within(line: HookFlags, environ: Mapping[str, str], events: BinaryIO, seconds: float) -> bytes:
    """Return the answer to the event, or an empty one when the time is up first."""
    by = time.monotonic() + seconds
    made: list[bytes] = []
    done = threading.Event()

    def work() -> None:
        try:
            made.append(_answer(line, environ, events, by))
        except Exception as error:  # noqa: BLE001 - an agent must not break because its memory does
            _log(line, environ, error)
        finally:
            done.set()

    threading.Thread(target=work, daemon=True).start()
    done.wait(max(0.0, by - time.monotonic()))
    return next((one + b"\n" for one in made if one.startswith(b"{")), _NOTHING)


def _answer(line: HookFlags, environ: Mapping[str, str], events: BinaryIO, by: float) -> bytes:
    # Each import only where it is needed, because every import takes time.
    from recollectum.home.paths import Home, home_root  # noqa: PLC0415
    from recollectum.upkeep.presence import is_made  # noqa: PLC0415

    event = json.loads(events.read(MAX_EVENT))
    home = Home(home_root(Path(line.home) if line.home else None, environ))
    silent = str(event.get("hook_event_name", "")).casefold() in _SILENT
    if environ.get("RECOLLECTUM_URL") or (home.root / "connection.json").exists():
        from recollectum.doors.hook.from_server import answer_from_server  # noqa: PLC0415

        sent = {"agent": line.agent, "user": line.user, "tokens": line.tokens, "event": event}
        return answer_from_server(home, sent, environ, by, waits=not silent)
    if not is_made(home):
        # There is no home; a hook does not create one.
        return b""
    asked = {
        "agent": line.agent,
        "user": line.user or environ.get("RECOLLECTUM_USER") or None,
        "tokens": line.tokens,
        "answer_by": time.time() + by - time.monotonic(),
        "event": event,
    }
    from recollectum.doors.hook.delivery import deliver  # noqa: PLC0415

    return deliver(home, asked, environ, by, waits=not silent)


def _log(line: HookFlags, environ: Mapping[str, str], error: Exception) -> None:
    # Imported here, and only where there is a home to write to.
    from recollectum.domain.errors import RecollectumError  # noqa: PLC0415
    from recollectum.domain.ids import system_clock  # noqa: PLC0415
    from recollectum.doors.hook.log import log_error  # noqa: PLC0415
    from recollectum.home.paths import Home, home_root  # noqa: PLC0415
    from recollectum.upkeep.presence import is_made  # noqa: PLC0415

    try:
        home = Home(home_root(Path(line.home) if line.home else None, environ))
    except RecollectumError:
        return
    if is_made(home) or (home.root / "connection.json").exists():
        log_error(home, "hook", error, system_clock())


def _process_age() -> float:
    """Return how long this process has been running, which includes starting Python."""
    try:
        fields = Path("/proc/self/stat").read_text(errors="replace").rpartition(")")[2].split()
        started = int(fields[19]) / os.sysconf("SC_CLK_TCK")
        return max(0.0, time.clock_gettime(time.CLOCK_BOOTTIME) - started)
    except (OSError, ValueError, IndexError, AttributeError):
        return _UNKNOWN_START
