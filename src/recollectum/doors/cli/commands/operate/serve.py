"""`recollectum serve`: runs the daemon of a home, which does upkeep and answers requests."""

import json
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import InvalidInput, LockHeld, ModelMissing
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import note
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import home_of, open_home
from recollectum.doors.json_values import to_json
from recollectum.home.daemon import find_daemon, find_holder

if TYPE_CHECKING:
    from recollectum.doors.server.daemon import StartedDaemon
    from recollectum.engine import Recollectum


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "serve")(serve)


def serve(
    run: Run,
    *,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="The port; 0 picks a free one.")] = None,
    no_http: Annotated[bool, typer.Option("--no-http", help="Maintain the vaults without answering requests.")] = False,
) -> None:
    """Run the daemon: maintain the vaults and answer requests until Ctrl-C or SIGTERM; one per home."""
    if run.user is not None:
        raise InvalidInput(f"--user {run.user[:60]!r} has no meaning here: a daemon serves everybody; leave it out")
    _check_alone(run)
    with open_home(run, create=True) as recollectum:
        # Imported here: it is slow to import, and a running daemon is the more likely problem.
        from recollectum.doors.server.daemon import ListenAddress  # noqa: PLC0415
        from recollectum.doors.server.daemon import serve as serve_home  # noqa: PLC0415

        rules = recollectum.settings.server
        place = ListenAddress(host=rules.host if host is None else host, port=rules.port if port is None else port)
        if not no_http:
            _need_server()
        ended = serve_home(recollectum, None if no_http else place, lambda started: _tell(run, recollectum, started))
    if not ended:
        note("a round of upkeep was still running; the next one finishes its work")


def _check_alone(run: Run) -> None:
    """Report a running daemon before anything is opened; the lock itself decides."""
    home = home_of(run)
    holder = find_holder(home)
    if holder is None:
        return
    found = find_daemon(home)
    where = f" and listens on {found.url}" if found else ""
    raise LockHeld(
        f"process {holder.pid} is the daemon of {home.root} already{where}; stop it with: recollectum daemon stop"
    )


def _need_server() -> None:
    from importlib.util import find_spec  # noqa: PLC0415 - no other command needs it

    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing:
        from recollectum.home.install_command import install_command  # noqa: PLC0415 - no other command needs it

        raise ModelMissing(
            f"answering requests needs {' and '.join(missing)}; run: {install_command('recollectum[server]')}, "
            "or only maintain the vaults with --no-http"
        )


def _tell(run: Run, recollectum: "Recollectum", started: "StartedDaemon") -> None:
    from recollectum.upkeep.rounds.scheduler import intervals  # noqa: PLC0415 - imported already

    wanted = intervals(recollectum.settings)
    rounds = [name for name, every in wanted.items() if every]
    if run.json:
        document = {"home": recollectum.home.root, **started_document(started), "rounds": rounds}
        print(json.dumps(to_json(document)), flush=True)
        return
    where = f"listening on {started.url}" if started.url else "answering no requests"
    print(visible(f"{where}, for the home {recollectum.home.root} (process {started.pid})"))
    print(f"maintaining: {', '.join(rounds)}; see: recollectum daemon status", flush=True)


def started_document(started: "StartedDaemon") -> dict[str, object]:
    """Return what a program is told about a started daemon."""
    return {"pid": started.pid, "url": started.url, "started_at": started.started_at}
