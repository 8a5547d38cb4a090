"""Runs the daemon of a home: takes its lock, does upkeep, serves requests, and stops gracefully."""

import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from types import FrameType
from typing import TYPE_CHECKING, NamedTuple, cast

from recollectum.domain.errors import HomeError, InvalidInput
from recollectum.domain.records import dataclass
from recollectum.doors.server.tls import TlsFiles
from recollectum.engine import Recollectum
from recollectum.home.daemon import Daemon, daemon_lock, remove_daemon, write_daemon
from recollectum.upkeep.rounds.duties import UpkeepRuntime
from recollectum.upkeep.rounds.scheduler import UpkeepThread, start_threads

if TYPE_CHECKING:
    from recollectum.settings.model import Settings

#: How long to wait for a round of upkeep.
_PATIENCE_SECONDS = 30
#: How long a balancer has to notice that a server with a PostgreSQL database stops.
_DRAIN_SECONDS = 5.0
_TOKEN_BYTES = 32
_BACKLOG = 2048
_SIGNALS = (signal.SIGTERM, signal.SIGINT)
#: Python handles a signal in the main thread, and a wait without an end goes on where the system gives the signal to
#: another thread. So the wait for one ends this often.
_SIGNAL_SECONDS = 0.5
#: A server that listens on every address is reached at this one from here.
_HERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListenAddress:
    """Where to listen; port 0 is any free port."""

    host: str
    port: int
    #: The certificate chain and its key for HTTPS; None for plain HTTP.
    tls: TlsFiles | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedDaemon:
    """A daemon that has just started."""

    pid: int
    #: Where programs of this machine reach it; None when it answers no requests.
    url: str | None
    started_at: datetime
    listening: "Listening | None" = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Listening:
    """What a server is bound to, and the names that it answers to."""

    host: str
    port: int
    is_tls: bool
    #: The names of the Host header without their ports, sorted.
    names: tuple[str, ...]
    #: `server.hosts`, to which a name is added.
    further: str


def serve(recollectum: Recollectum, place: ListenAddress | None, tell: Callable[[StartedDaemon], None]) -> bool:
    """Run the daemon of the home until a signal ends it; without an address it only does upkeep.

    False when a round of upkeep was still running after the grace time: the next daemon finishes it.
    """
    lock = daemon_lock(recollectum.home)
    with lock, _stopping() as stop:
        # A killed daemon may have left it.
        remove_daemon(recollectum.home)
        upkeep = upkeep_runtime(recollectum, stop)
        listening = _bind(place) if place else None
        lanes: list[UpkeepThread] = []
        try:
            lanes = start_threads(upkeep)
            if place is None or listening is None:
                tell(StartedDaemon(pid=os.getpid(), url=None, started_at=upkeep.admin.clock()))
                while not stop.wait(_SIGNAL_SECONDS):
                    pass
            else:
                _answer(recollectum, _Bound(listening, place.tls), stop, tell)
        finally:
            stop.set()
            ended = _leave(upkeep, listening, lanes)
    return ended


def upkeep_runtime(recollectum: Recollectum, stop: threading.Event) -> UpkeepRuntime:
    """Return what the rounds of a home use. They open vaults that exist: a person may be erased during a round."""
    return UpkeepRuntime(
        admin=recollectum.admin,
        settings=recollectum.settings,
        open_vault=partial(recollectum.vault, create=False),
        stop=stop,
    )


def _leave(upkeep: UpkeepRuntime, listening: socket.socket | None, lanes: list[UpkeepThread]) -> bool:
    """Take back what others know of this daemon, after the last request was answered; False when a round still runs.

    A round releases its leases when it ends. Those of one that still runs are released here: this process ends now.
    """
    remove_daemon(upkeep.admin.home)
    if listening:
        listening.close()
    ended = all([lane.join(_PATIENCE_SECONDS) for lane in lanes])
    if not ended:
        upkeep.release_claims()
    return ended


@contextmanager
def _stopping() -> Generator[threading.Event]:
    """Yield an event that SIGTERM and SIGINT set, instead of ending the process at once."""
    stop = threading.Event()

    def handle(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    before = {number: signal.signal(number, handle) for number in _SIGNALS}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


class _Bound(NamedTuple):
    listening: socket.socket
    tls: TlsFiles | None


def _answer(
    recollectum: Recollectum, bound: _Bound, stop: threading.Event, tell: Callable[[StartedDaemon], None]
) -> None:
    """Answer requests until a signal comes; finish those in progress first."""
    # Imported here: an installation without the extra has no server, and upkeep alone needs none.
    from recollectum.doors.http.server_state import ServerState, limits_of  # noqa: PLC0415
    from recollectum.doors.server.app import add_embedding, build_app  # noqa: PLC0415
    from recollectum.doors.server.listening import Sockets, Stopping, build_server  # noqa: PLC0415

    host, port = _address(bound.listening)
    # Programs of this machine cannot check a certificate of another name, and their requests do not leave it.
    local = _bind(ListenAddress(host="127.0.0.1", port=0)) if bound.tls else None
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    started_at = recollectum.admin.clock()
    rules = recollectum.settings.server
    local_port = _address(local)[1] if local else None
    limits = limits_of(rules, host=host, port=port, local_port=local_port)
    serving = ServerState(recollectum=recollectum, local_token=token, limits=limits, started_at=started_at, stop=stop)
    app = build_app(serving)
    add_embedding(app)
    url = _url(host, port) if local_port is None else _url("127.0.0.1", local_port)
    names = tuple(sorted({name.rpartition(":")[0] for name in limits.hosts if name.endswith(f":{port}")}))
    where = Listening(host=host, port=port, is_tls=bound.tls is not None, names=names, further=rules.hosts)

    def announce() -> None:
        write_daemon(recollectum.home, Daemon(url, os.getpid(), token, started_at))
        tell(StartedDaemon(pid=os.getpid(), url=url, started_at=started_at, listening=where))

    stopping = Stopping(stop, drain_seconds(recollectum.settings))
    try:
        server = build_server(app, rules, announce, stopping, Sockets(local=local, tls=bound.tls))
        server.run(sockets=[bound.listening])
    finally:
        if local is not None:
            local.close()


def drain_seconds(settings: "Settings") -> float:
    """Return how long `/readyz` fails before a stopping server takes no more connections."""
    given = settings.server.drain_seconds
    # A server of files is alone: no balancer is waited for.
    return given if given >= 0 else _DRAIN_SECONDS if settings.storage.url else 0.0


def _address(listening: socket.socket) -> tuple[str, int]:
    host, port = cast("tuple[str, int]", listening.getsockname()[:2])
    return host, port


def _bind(place: ListenAddress) -> socket.socket:
    """Return a listening socket; raise with the reason when that fails."""
    _check_address(place.host)
    family = socket.AF_INET6 if ":" in place.host else socket.AF_INET
    # With the protocol named: otherwise asyncio does not recognise TCP, and each small answer would wait for the next.
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            # Otherwise a restart would have to wait until the old connections are forgotten.
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((place.host.strip("[]"), place.port))
        listening.listen(_BACKLOG)
    except OSError as error:
        listening.close()
        where = f"{place.host} port {place.port}"
        raise HomeError(
            f"{where} cannot be listened on ({error.strerror or 'it is not an address of this machine'}); "
            "choose another with --host and --port, or port 0 for any that is free"
        ) from error
    return listening


def _check_address(host: str) -> None:
    """Accept only addresses: resolving a name would ask the network, and an empty one would listen everywhere."""
    from ipaddress import ip_address  # noqa: PLC0415 - a daemon without HTTP does not need it

    try:
        ip_address(host.strip("[]"))
    except ValueError:
        raise InvalidInput(f"{host[:60]!r} is not an address to listen on; use 127.0.0.1, ::1 or 0.0.0.0") from None


def _url(host: str, port: int) -> str:
    bare = host.strip("[]")
    named = _HERE.get(bare, f"[{bare}]" if ":" in bare else bare)
    return f"http://{named}:{port}"
