"""Answers an event with what the server of this machine knows, and sends it what was said.

The event goes to the server without the paths of this machine. What was said is read from the agent's own file by a
separate process, which the agent does not wait for: it sends the messages that the server lacks, each once, so that
nothing is lost while the server cannot be reached.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING, cast

from recollectum.domain.errors import HomeError, RecollectumError
from recollectum.doors.remote.link import ServerLink
from recollectum.home.credentials.connection import check_person, find_connection
from recollectum.home.paths import Home

if TYPE_CHECKING:
    from recollectum.doors.hook.events import HookEvent

#: What the server reads of an event.
_SENT = ("hook_event_name", "session_id", "conversation_id", "prompt", "source")
#: Time left for the answer to arrive.
_RESERVE = 0.03
_OK = 200
_MOST_BYTES = 8 * 2**20


def answer_from_server(
    home: Home, asked: Mapping[str, object], environ: Mapping[str, str], by: float, *, waits: bool
) -> bytes:
    """Return the answer of the server; empty at an event that gets none."""
    connection = find_connection(home, environ)
    if connection is None:
        return b""
    check_person(connection, cast("str | None", asked["user"]))
    event = cast("Mapping[str, object]", asked["event"])
    # A prompt without a file to read it from later is sent at once.
    if not waits or not event.get("transcript_path"):
        _send_later(home, str(asked["agent"]), event, environ)
    if not waits:
        return b""
    left = max(0.01, by - time.monotonic())
    sent = {
        "agent": asked["agent"],
        "tokens": asked["tokens"],
        "seconds": max(0.01, left - _RESERVE),
        "event": {name: event[name] for name in _SENT if name in event},
    }
    with closing(ServerLink(connection, seconds=left)) as link:
        reply = link.exchange("POST", "/v1/hook", sent)
    if reply.status != _OK:
        raise HomeError(f"{connection.url} did not take the event (status {reply.status})")
    return reply.body


def _send_later(home: Home, agent: str, event: Mapping[str, object], environ: Mapping[str, str]) -> None:
    """Start a process that sends what was said; it outlives us."""
    started = subprocess.Popen(
        [sys.executable, "-m", "recollectum.doors.hook.from_server", str(home.root), agent],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        env=dict(environ),
        start_new_session=os.name != "nt",
    )
    if started.stdin is not None:
        started.stdin.write(json.dumps(event).encode())
        started.stdin.close()


def send_event(home: Home, agent: str, event: Mapping[str, object], environ: Mapping[str, str]) -> None:
    """Record in the vault of the server what an event and its transcript say, and the server lacks."""
    # Imported here: the process that the agent waits for needs none of it.
    from recollectum.doors.hook.events import Moment, read_event  # noqa: PLC0415
    from recollectum.doors.hook.recording import record  # noqa: PLC0415
    from recollectum.doors.remote.vault import open_served_vault  # noqa: PLC0415

    connection, found = find_connection(home, environ), read_event(agent, event)
    if connection is None or found is None or not _says_anything(found):
        return
    with closing(open_served_vault(connection)) as vault:
        record(vault, found, found.prompt if found.moment is Moment.ASKED else "")


def _says_anything(event: "HookEvent") -> bool:
    return bool(event.transcript or event.prompt or event.answer)


def main(root: str, agent: str) -> None:
    """Send the event on stdin, and log what goes wrong: nobody waits for it."""
    from pathlib import Path  # noqa: PLC0415 - see above

    from recollectum.domain.ids import system_clock  # noqa: PLC0415
    from recollectum.doors.hook.log import log_error  # noqa: PLC0415

    home = Home(Path(root))
    try:
        event = cast("Mapping[str, object]", json.loads(sys.stdin.buffer.read(_MOST_BYTES)))
        send_event(home, agent, event, os.environ)
    except (RecollectumError, OSError, ValueError) as error:
        if home.root.is_dir():
            log_error(home, "send", error, system_clock())


if __name__ == "__main__":
    from recollectum.home.core_dumps import forbid_core_dumps

    forbid_core_dumps(os.environ)
    main(sys.argv[1], sys.argv[2])
