"""`recollectum serve`: runs the daemon of a home, which does upkeep and answers requests."""

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import InvalidInput, LockHeld, ModelMissing
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import note
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import home_of, open_home
from recollectum.doors.json_values import to_json
from recollectum.home.daemon import find_daemon, find_holder

if TYPE_CHECKING:
    from collections.abc import Iterator

    from recollectum.doors.server.daemon import Listening, StartedDaemon
    from recollectum.doors.server.tls import TlsFiles
    from recollectum.engine import Recollectum

_EVERYWHERE = ("0.0.0.0", "::")


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "serve")(serve)


def serve(
    run: Run,
    *,
    host: Annotated[str | None, typer.Option(metavar="ADDRESS", help="The address to listen on.")] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65_535, help="The port; 0 picks a free one.")] = None,
    tls_cert: Annotated[
        str | None, typer.Option("--tls-cert", metavar="FILE", help="Serve HTTPS with this certificate chain (PEM).")
    ] = None,
    tls_key: Annotated[
        str | None, typer.Option("--tls-key", metavar="FILE", help="The private key of the certificate (PEM).")
    ] = None,
    no_http: Annotated[bool, typer.Option("--no-http", help="Maintain the vaults without answering requests.")] = False,
) -> None:
    """Run the daemon: maintain the vaults and answer requests until Ctrl-C or SIGTERM; one per home."""
    if run.user is not None:
        raise InvalidInput(f"--user {run.user[:60]!r} has no meaning here: a daemon serves everybody; leave it out")
    # Before the home is opened: a mistake must not make one.
    tls = _tls_files(tls_cert, tls_key)
    _check_alone(run)
    with open_home(run, create=True) as recollectum:
        # Imported here: it is slow to import, and a running daemon is the more likely problem.
        from recollectum.doors.server.daemon import ListenAddress  # noqa: PLC0415
        from recollectum.doors.server.daemon import serve as serve_home  # noqa: PLC0415

        rules = recollectum.settings.server
        place = ListenAddress(
            host=rules.host if host is None else host, port=rules.port if port is None else port, tls=tls
        )
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
    for line in describe_started(started, str(recollectum.home.root)):
        print(visible(line))
    print(f"maintaining: {', '.join(rounds)}; see: recollectum daemon status", flush=True)


def describe_started(started: "StartedDaemon", home: str) -> list[str]:
    """Return what a person is told: what it is bound to, and for others than this machine, the allowed names."""
    names = _about_names(started.listening) if started.listening else ()
    return [f"{_where(started)}, for the home {home} (process {started.pid})", *names]


def _where(started: "StartedDaemon") -> str:
    found = started.listening
    if started.url is None or found is None:
        return "answering no requests"
    if _is_loopback(found.host) and not found.is_tls:
        return f"listening on {started.url}"
    bound = f"[{found.host}]:{found.port}" if ":" in found.host else f"{found.host}:{found.port}"
    place = f"all addresses ({bound})" if found.host in _EVERYWHERE else bound
    here = f"; programs of this machine use {started.url}" if found.is_tls else ""
    return f"listening on {place}, {'HTTPS' if found.is_tls else 'plain HTTP'}{here}"


def _about_names(found: "Listening") -> "Iterator[str]":
    """Yield which names are allowed and how to add one, where others than this machine can ask."""
    if _is_loopback(found.host):
        return
    added = ",".join([*(one.strip() for one in found.further.split(",") if one.strip()), "NAME"])
    yield (
        f"allowed host names: {', '.join(found.names)}; "
        f"add one: recollectum settings set server.hosts {added}, and start the daemon again"
    )
    if not found.is_tls:
        yield (
            "keys and texts are not encrypted on the network, and clients send no key there; "
            "give --tls-cert and --tls-key, or let a proxy serve HTTPS"
        )


def _is_loopback(host: str) -> bool:
    from ipaddress import ip_address  # noqa: PLC0415 - no other command needs it

    return ip_address(host).is_loopback


def _tls_files(certificate: str | None, key: str | None) -> "TlsFiles | None":
    """Return both files, which can be used, or None; one without the other is a mistake."""
    if certificate is None and key is None:
        return None
    if certificate is None or key is None:
        raise Misuse("HTTPS needs both: --tls-cert FILE and --tls-key FILE")
    from recollectum.doors.server.tls import TlsFiles, check_tls  # noqa: PLC0415 - few servers have a certificate

    files = TlsFiles(certificate=Path(certificate).expanduser().absolute(), key=Path(key).expanduser().absolute())
    check_tls(files)
    return files


def started_document(started: "StartedDaemon") -> dict[str, object]:
    """Return what a program is told about a started daemon."""
    found = started.listening
    return {
        "pid": started.pid,
        "url": started.url,
        "started_at": started.started_at,
        "listening": None
        if found is None
        else {"host": found.host, "port": found.port, "tls": found.is_tls, "names": found.names},
    }
