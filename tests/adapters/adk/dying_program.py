"""Appends events with changes of shared state, in processes that each end at another moment of it.

`python -m tests.adapters.adk.dying_program FOLDER` prints for each moment whether its process was killed there.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from google.adk.events import Event, EventActions

from recollectum import Recollectum
from recollectum.adapters.adk import RecollectumSessionService
from recollectum.adapters.adk import sharing as module
from recollectum.adapters.adk.state_log import SharedState

#: The calls before which a process dies, by the folder of its home; the second call of `apply` is for the user.
MOMENTS = {"noting": ("note", 1), "writing": ("add_record", 1), "sharing": ("apply", 1), "half": ("apply", 2)}
PLACE: dict[str, Any] = {"app_name": "demo", "user_id": "ann", "session_id": "s"}


def event(number: int) -> Event:
    """Return an event that sets a number in all three states."""
    changes = {"n": number, "user:n": number, "app:n": number}
    return Event(author="user", timestamp=2e9 + number, actions=EventActions(state_delta=changes))


def _die_at(name: str, number: int) -> None:
    target = module if name == "add_record" else SharedState
    original, calls = getattr(target, name), 0

    def counted(*given: object) -> object:
        nonlocal calls
        calls += 1
        if calls == number:
            os.kill(os.getpid(), signal.SIGKILL)
        return original(*given)

    setattr(target, name, counted)


async def _talk(folder: Path, moment: str) -> None:
    with Recollectum(folder / moment, settings={"encryption": "off"}) as home:
        service = RecollectumSessionService(home)
        session = await service.create_session(**PLACE)
        await service.append_event(session, event(1))
        _die_at(*MOMENTS[moment])
        await service.append_event(session, event(2))


def main(folder: Path) -> None:
    """Run one process for each moment."""
    for moment in MOMENTS:
        child = os.fork()
        if not child:
            asyncio.run(_talk(folder, moment))
            os._exit(0)
        print(moment, os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
