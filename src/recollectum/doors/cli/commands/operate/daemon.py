"""`recollectum daemon`: reports on the running daemon, stops it, or runs one round of upkeep."""

import os
import signal
import threading
import time
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import LockHeld, NotFound
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import home_of, open_home
from recollectum.home.daemon import find_daemon, find_holder

if TYPE_CHECKING:
    from collections.abc import Mapping

    from recollectum.upkeep.rounds.status import RoundStatus

app = new_group("Show what the daemon of this home does, run a round now, or stop the daemon.")

_PATIENCE_SECONDS = 90.0
_PAUSE = 0.05


@command(app, "status")
def status(
    run: Run,
    *,
    vaults: Annotated[bool, typer.Option("--vaults", help="Also list each vault; --json always does.")] = False,
) -> None:
    """Show whether a daemon runs, and the last run, next run and result of each round."""
    # Imported here: `--help` and the other commands do not need it.
    from recollectum.upkeep.rounds.status import list_rounds  # noqa: PLC0415

    home = home_of(run)
    holder, found = find_holder(home), find_daemon(home)
    with open_home(run) as recollectum:
        rounds = list_rounds(recollectum)
    running = {"pid": holder.pid, "url": found.url if found else None, "since": holder.acquired} if holder else None
    shown = [one for one in rounds if vaults or one.owner is None or one.trouble]
    answer_rows(
        run,
        {"running": running, "rounds": rounds},
        ("round", "owner", "every", "last", "next", "result"),
        [_row(one, is_running=holder is not None) for one in shown],
    )
    if running is None:
        note("no daemon runs for this home; start one with: recollectum serve")
    else:
        note(f"process {running['pid']} is the daemon, {running['url'] or 'and answers no requests'}")


@command(app, "stop")
def stop(run: Run) -> None:
    """Stop the daemon of this home; it finishes running requests and the current step of a round."""
    home = home_of(run)
    holder = find_holder(home)
    if holder is None:
        raise NotFound(f"no daemon runs for {home.root}; there is nothing to stop")
    if holder.started is not None and not holder.lives():
        raise LockHeld(f"the daemon of {home.root} cannot be identified for certain; end it yourself")
    try:
        os.kill(holder.pid, signal.SIGTERM)
    except PermissionError as error:
        raise LockHeld(f"process {holder.pid} belongs to another account; ask its owner to end it") from error
    except ProcessLookupError:
        # It ended by itself.
        pass
    give_up = time.monotonic() + _PATIENCE_SECONDS
    while (now := find_holder(home)) and now.pid == holder.pid:
        if time.monotonic() > give_up:
            raise LockHeld(f"process {holder.pid} was asked to stop and has not yet; look again in a while")
        time.sleep(_PAUSE)
    answer(run, {"stopped": holder.pid}, [f"the daemon, process {holder.pid}, has stopped"])


@command(app, "run")
def run_round(run: Run, name: Annotated[str, typer.Argument(metavar="ROUND", help="Such as consolidation.")]) -> None:
    """Run one round now, in all vaults, whether a daemon runs or not."""
    from datetime import timedelta  # noqa: PLC0415 - see above

    from recollectum.doors.server.daemon import upkeep_runtime  # noqa: PLC0415
    from recollectum.upkeep.rounds.scheduler import duty, intervals  # noqa: PLC0415

    with open_home(run) as recollectum:
        every = intervals(recollectum.settings).get(name) or timedelta(hours=1)
        made = duty(upkeep_runtime(recollectum, threading.Event()), name, every).make(force=True)
    document = {"round": name, "result": made.counts, "trouble": made.trouble}
    answer(run, document, [visible(f"{name}: {_told(made.counts)}")])
    if made.trouble:
        note(f"{made.trouble}; see: recollectum daemon status")
        raise typer.Exit(FAILED)


def _row(one: "RoundStatus", *, is_running: bool) -> tuple[object, ...]:
    every = "off" if one.every_seconds is None else _spell(one.every_seconds)
    return (
        one.name,
        one.owner,
        every,
        one.last_run,
        one.next_run if is_running else None,
        one.trouble or _told(one.result),
    )


def _told(counts: "Mapping[str, int]") -> str:
    return ", ".join(f"{name} {count}" for name, count in counts.items() if count) or "nothing to do"


def _spell(seconds: float) -> str:
    for size, unit in ((3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds / size:g} {unit}"
    return f"{seconds:g} s"
