"""Traces six operations through the source: calls, files, switches between files and folders, depth, SQL statements."""

import io
import os
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

import apsw

import recollectum
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from tests.doors.mcp.stdio_requests import ENVELOPE, request

_SOURCE = str(Path(recollectum.__file__).parent) + os.sep
#: Neither a query nor a change.
_AROUND = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE", "PRAGMA")


@dataclass
class Walk:
    """What one operation passed through."""

    calls: int = 0
    functions: set[str] = field(default_factory=set[str])
    files: set[str] = field(default_factory=set[str])
    file_switches: int = 0
    folder_switches: int = 0
    depth: int = 0
    statements: int = 0
    threads: set[int] = field(default_factory=set[int])

    def line(self, name: str) -> str:
        """Return one row of the table."""
        numbers = (self.calls, len(self.functions), len(self.files), self.file_switches, self.folder_switches)
        return f"| {name} | {' | '.join(map(str, (*numbers, self.depth, self.statements, len(self.threads))))} |"


def main() -> None:
    apsw.connection_hooks.append(_trace_statements)
    print("| operation | calls | functions | files | file switches | folder switches | depth | statements | threads |")
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        os.environ["RECOLLECTUM_EMBEDDING__PROVIDER"] = "none"
        for name, walk in walks(Path(folder) / "home"):
            print(walk.line(name), flush=True)


def walks(home: Path) -> Iterator[tuple[str, Walk]]:
    """Run each operation once to warm up, and once to trace."""
    with Recollectum(home) as r:
        alice = r.vault("user:alice")
        chat = alice.sessions.open(channel="telegram", agent="main")
        yield "`memories.save(text)`", _traced(lambda: alice.memories.save(_text()))
        yield "`recall(text)`, words alone", _traced(lambda: alice.recall("what does she eat?"))
        yield "`context(text)`", _traced(lambda: alice.context("what does she eat?"))
        yield "`chat.add(…)`", _traced(lambda: chat.add("user", _text()))
        yield "`r.vault(…)` of an open vault", _traced(lambda: r.vault("user:alice"))
        yield from _over_http(r)
    yield from _over_mcp(home)
    yield from _over_cli(home)


_numbers = iter(range(1_000_000))


def _text() -> str:
    return f"She told me number {next(_numbers)}: lentil soup on Mondays"


def _over_http(r: Recollectum) -> Iterator[tuple[str, Walk]]:
    from fastapi.testclient import TestClient  # noqa: PLC0415 - needed only here

    from recollectum.doors.http.server_state import ServerState, limits_of  # noqa: PLC0415
    from recollectum.doors.server.app import build_app  # noqa: PLC0415

    _, secret = r.keys.add("user:alice")
    limits = limits_of(r.settings.server, host="127.0.0.1", port=80)
    state = ServerState(recollectum=r, local_token="t", limits=limits, started_at=r.admin.clock())
    headers = {"Authorization": f"Bearer {secret}", "Host": "127.0.0.1"}
    app = build_app(state)

    def post() -> None:
        # Its threads start here: existing ones are not traced.
        with TestClient(app, base_url="http://127.0.0.1") as client:
            answer = client.post("/memory/add", headers=headers, json={"content": _text()})
            assert answer.status_code < 300, answer.text

    yield "`POST /memory/add`", _traced(post)


def _over_mcp(home: Path) -> Iterator[tuple[str, Walk]]:
    from recollectum.doors.mcp.catalogue import DEFAULT  # noqa: PLC0415
    from recollectum.doors.mcp.local_backend import LocalBackend  # noqa: PLC0415
    from recollectum.doors.mcp.stdio_server import StdioServer  # noqa: PLC0415
    from recollectum.doors.mcp.target import McpTarget  # noqa: PLC0415

    back = LocalBackend(McpTarget(home=str(home), user="alice", environ=os.environ), DEFAULT)

    def remember() -> None:
        params = {**ENVELOPE, "name": "remember", "arguments": {"content": _text()}}
        answer = io.BytesIO()
        server = StdioServer(DEFAULT, back.exchange, answer)
        server.serve(io.BytesIO(request("tools/call", params).encode() + b"\n"))
        assert b'"isError": true' not in answer.getvalue(), answer.getvalue()
        assert b"Remembered" in answer.getvalue(), answer.getvalue()

    try:
        yield "MCP `remember`, in one process", _traced(remember)
    finally:
        back.close()


def _over_cli(home: Path) -> Iterator[tuple[str, Walk]]:
    from recollectum.doors.cli.entry import main as run  # noqa: PLC0415

    sessions: list[str] = []
    with Recollectum(home) as r:
        for topic in ("one", "two"):
            chat = r.vault("user:alice").sessions.open(channel="telegram", agent="main", topic=topic)
            chat.add("user", _text())
            sessions.append(chat.id)

    def purge() -> None:
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            run(["purge", "session", sessions.pop(), "--yes", "--home", str(home), "--user", "alice"])

    yield "`recollectum purge session ID`", _traced(purge)


_walk: Walk | None = None
_last = threading.local()


def _traced(work: Callable[[], object]) -> Walk:
    global _walk
    work()
    _walk = walk = Walk()
    threading.setprofile(_profile)
    sys.setprofile(_profile)
    try:
        work()
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        _walk = None
    return walk


def _profile(frame: FrameType, event: str, _: object) -> None:
    walk, file = _walk, frame.f_code.co_filename
    if walk is None or event != "call" or not file.startswith(_SOURCE):
        return
    walk.calls += 1
    walk.threads.add(threading.get_ident())
    walk.functions.add(f"{file}:{frame.f_code.co_qualname}")
    walk.files.add(file)
    before = getattr(_last, "file", None)
    if before != file:
        walk.file_switches += 1
        walk.folder_switches += before is None or Path(before).parent != Path(file).parent
    _last.file = file
    walk.depth = max(walk.depth, _depth(frame))


def _depth(frame: FrameType) -> int:
    depth, one = 0, frame
    while one is not None:
        depth += one.f_code.co_filename.startswith(_SOURCE)
        one = one.f_back
    return depth


def _trace_statements(connection: apsw.Connection) -> None:
    def seen(_: apsw.Cursor, sql: str, __: object) -> bool:
        if _walk is not None and not sql.lstrip().upper().startswith(_AROUND):
            _walk.statements += 1
        return True

    connection.exec_trace = seen
