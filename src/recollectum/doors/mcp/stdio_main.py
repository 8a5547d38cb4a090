"""Runs `recollectum mcp` as a process: parses flags, chooses a backend, serves one client. Standard library only."""

import os
import sys
import threading
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from recollectum.doors.mcp.stdio_server import StdioServer

if TYPE_CHECKING:
    from recollectum.doors.mcp.declarations import McpProfile, Wire
    from recollectum.doors.mcp.local_backend import LocalBackend
    from recollectum.doors.mcp.target import McpTarget

PROFILES = ("default", "graph")
_FLAGS = ("--user", "--home", "--profile")


class StdioFlags(NamedTuple):
    """The flags of the command line."""

    user: str | None = None
    home: str | None = None
    profile: str = "default"


def parse_stdio_flags(arguments: Sequence[str]) -> StdioFlags | None:
    """Parse the flags of a plain `mcp` line; None for anything else, which the full command line then handles."""
    if not arguments or arguments[0] != "mcp" or len(arguments) % 2 == 0:
        return None
    names, values = arguments[1::2], arguments[2::2]
    given = dict(zip(names, values, strict=True))
    usable = all(name in _FLAGS and value and not value.startswith("-") for name, value in given.items())
    if not usable or len(given) != len(names) or given.get("--profile", "default") not in PROFILES:
        return None
    return StdioFlags(given.get("--user"), given.get("--home"), given.get("--profile", "default"))


def serve_stdio(line: StdioFlags, environ: Mapping[str, str] = os.environ) -> int:
    """Serve one client on stdin and stdout until it leaves; return the exit code."""
    # Output of a library must not end up between two messages.
    wire = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    chosen = _load_profile(line.profile)
    back = _Backends(line, chosen, environ)
    try:
        StdioServer(chosen, back.exchange, wire).serve(sys.stdin.buffer)
    except KeyboardInterrupt:
        return 130
    finally:
        back.close()
    return 0


def _load_profile(profile: str) -> "McpProfile":
    # One of the two is enough.
    if profile == "graph":
        from recollectum.doors.mcp.knowledge_graph.catalogue import GRAPH  # noqa: PLC0415

        return GRAPH
    from recollectum.doors.mcp.catalogue import DEFAULT  # noqa: PLC0415

    return DEFAULT


#: The tools that want to know where the client works.
_PLACED = frozenset({"recall", "context"})


def with_folder(request: "Wire") -> "Wire":
    """Return the request with the folder of this process, in which the agent started it, unless it names one."""
    params = request["params"]
    given = params.get("arguments")
    if request["method"] != "tools/call" or params.get("name") not in _PLACED or not isinstance(given, dict | None):
        return request
    try:
        folder = os.getcwd()  # noqa: PTH109 - pathlib is not needed to list tools
    except OSError:
        return request
    return {**request, "params": {**params, "arguments": {"folder": folder, **(given or {})}}}


class _Backends:
    """The daemon while one runs; once the home is open in this process, it stays open."""

    def __init__(self, line: StdioFlags, offer: "McpProfile", environ: Mapping[str, str]) -> None:
        self._line = line
        self._offer = offer
        self._environ = environ
        self._local: LocalBackend | None = None
        self._opening = threading.Lock()

    def exchange(self, request: "Wire") -> "Wire":
        """Return the response to a request of the newer protocol: from the daemon, or from the home in this process."""
        if self._local is not None:
            return self._local.exchange(with_folder(request))
        # Imported here: listing tools needs neither the home nor HTTP.
        from recollectum.doors.mcp.daemon_backend import (  # noqa: PLC0415
            DaemonBackend,
            DaemonUnreachable,
            ServerBackend,
        )
        from recollectum.doors.mcp.target import McpTarget  # noqa: PLC0415
        from recollectum.home.credentials.connection import check_person, find_connection  # noqa: PLC0415
        from recollectum.home.daemon import find_daemon  # noqa: PLC0415

        whom = McpTarget(user=self._line.user, home=self._line.home, environ=self._environ)
        connection = find_connection(whom.place, self._environ)
        if connection is not None:
            # Without the folder of this process, which means nothing to another machine.
            check_person(connection, self._line.user)
            return ServerBackend(connection, self._offer.profile).exchange(request)
        request = with_folder(request)
        daemon = find_daemon(whom.place)
        if daemon is not None:
            # A daemon that was gone before the request has done nothing.
            with suppress(DaemonUnreachable):
                return DaemonBackend(daemon, whom, self._offer.profile).exchange(request)
        return self._opened(whom).exchange(request)

    def _opened(self, whom: "McpTarget") -> "LocalBackend":
        from recollectum.doors.mcp.local_backend import LocalBackend  # noqa: PLC0415 - a daemon may do all the work

        with self._opening:
            if self._local is None:
                self._local = LocalBackend(whom, self._offer)
            return self._local

    def close(self) -> None:
        """Close what was opened."""
        if self._local is not None:
            self._local.close()
