"""One `remember` over stdio in one process: two threads, one gate pass, one write transaction, and no SDK."""

import io
import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

import recollectum
from recollectum import Recollectum
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.local_backend import LocalBackend
from recollectum.doors.mcp.stdio_main import with_folder
from recollectum.doors.mcp.stdio_server import StdioServer
from recollectum.doors.mcp.target import McpTarget
from recollectum.policy.clock import ClockReading
from recollectum.storage.port import Tx
from recollectum.vault.gate import Gate
from recollectum.vault.runtime import VaultRuntime
from tests.doors.mcp.stdio_requests import ENVELOPE, HELLO, request

pytestmark = pytest.mark.process

#: Of this door: what the vault does below it is measured where that is tested.
MOST_FILES = 10
SOURCE = str(Path(recollectum.__file__).parent)


def _remember(content: str) -> str:
    return request("tools/call", {**ENVELOPE, "name": "remember", "arguments": {"content": content}})


@pytest.fixture
def backend(tmp_path: Path) -> Iterator[LocalBackend]:
    environ = {**os.environ, "RECOLLECTUM_STORAGE__RESERVE_MIB": "0", "RECOLLECTUM_USER": "alice"}
    made = LocalBackend(McpTarget(home=str(tmp_path / "home"), environ=environ), DEFAULT)
    yield made
    made.close()


def _serve(backend: LocalBackend, line: str) -> Any:  # noqa: ANN401 - a message of the protocol
    output = io.BytesIO()
    StdioServer(DEFAULT, backend.exchange, output).serve(io.BytesIO(line.encode() + b"\n"))
    return json.loads(output.getvalue())


@contextmanager
def _profiled(seen: Callable[[FrameType], None]) -> Generator[None]:
    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call":
            seen(frame)

    threading.setprofile(note)
    sys.setprofile(note)
    try:
        yield
    finally:
        sys.setprofile(None)
        threading.setprofile(None)


@pytest.mark.feature("C14")
def test_the_folder_that_an_agent_works_in_names_the_project(
    backend: LocalBackend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def call(tool: str, **arguments: object) -> dict[str, Any]:
        asked = json.loads(request("tools/call", {**ENVELOPE, "name": tool, "arguments": arguments}))
        answered: dict[str, Any] = backend.exchange(with_folder(asked))["result"]["structuredContent"]
        return answered

    for name in ("blue", "red"):
        (tmp_path / name).mkdir()
        assert call("remember", content=f"We deploy {name} on Friday", project=str(tmp_path / name))["memory"][
            "project"
        ]
    for name, other in (("blue", "red"), ("red", "blue")):
        monkeypatch.chdir(tmp_path / name)
        assert name in call("recall", query="when do we deploy")["hits"][0]["text"]
        assert len(call("recall", query="when do we deploy", project=other)["hits"]) == 1
        told = call("context", query="when do we deploy")["text"]
        assert (name in told, other in told) == (True, False)
        assert other in call("context", query="when do we deploy", all_projects=True)["text"]
    monkeypatch.chdir(tmp_path)
    assert "deploy" not in call("context", query="when do we deploy")["text"]


def test_a_remember_takes_two_threads_one_gate_pass_and_one_transaction(
    backend: LocalBackend, monkeypatch: pytest.MonkeyPatch
) -> None:
    _serve(backend, _remember("The vault is open."))
    threads: set[int] = set()
    files: set[str] = set()
    passed: list[str] = []
    written: list[str] = []
    check, write = Gate.check, VaultRuntime.write

    def checked(self: Gate, *args: Any, **rest: Any) -> None:  # noqa: ANN401 - as the gate has it
        passed.append("check")
        check(self, *args, **rest)

    def counted(self: VaultRuntime, work: Callable[[Tx, ClockReading], Any], *, frees: bool = False) -> object:
        written.append("write")
        return write(self, work, frees=frees)

    def seen(frame: FrameType) -> None:
        if frame.f_code.co_filename.startswith(SOURCE):
            threads.add(threading.get_ident())
            files.add(frame.f_code.co_filename)

    monkeypatch.setattr(Gate, "check", checked)
    monkeypatch.setattr(VaultRuntime, "write", counted)
    with _profiled(seen):
        said = _serve(backend, _remember("Ann likes tea."))
    assert said["result"]["isError"] is False
    assert (len(threads), len(passed), len(written)) == (2, 1, 1)
    of_the_door = sorted(one for one in files if f"{os.sep}doors{os.sep}" in one)
    assert len(of_the_door) <= MOST_FILES, of_the_door


def test_a_cold_call_without_a_daemon_loads_no_sdk_and_no_event_loop(tmp_path: Path) -> None:
    program = (
        "import json, sys\n"
        "from recollectum.doors.cli.entry import main\n"
        "code = main(['mcp'])\n"
        "print(json.dumps(sorted(sys.modules)), file=sys.stderr)\n"
    )
    environ = {
        **os.environ,
        "RECOLLECTUM_HOME": str(tmp_path / "home"),
        "RECOLLECTUM_USER": "alice",
        "RECOLLECTUM_STORAGE__RESERVE_MIB": "0",
    }
    call = request("tools/call", {"name": "remember", "arguments": {"content": "Ann likes tea."}}, id=2)
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=f"{request('initialize', HELLO)}\n{call}\n",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
        env=environ,
    )
    assert json.loads(done.stdout.splitlines()[1])["result"]["isError"] is False
    loaded = {name.partition(".")[0] for name in json.loads(done.stderr.splitlines()[-1])}
    assert not loaded & {"mcp", "mcp_types", "anyio", "asyncio", "pydantic", "fastapi"}
    with Recollectum(tmp_path / "home", settings={"storage.reserve_mib": 0}) as home:
        assert [one.content for one in home.vault("user:alice").memories.list()] == ["Ann likes tea."]


def test_an_error_that_nobody_expected_is_answered(backend: LocalBackend, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError

    def keep_quiet(_: object) -> None:
        """The traceback goes to the log, which is not looked at here."""

    monkeypatch.setattr(LocalBackend, "exchange", fail)
    monkeypatch.setattr(threading, "excepthook", keep_quiet)
    assert _serve(backend, _remember("Ann likes tea."))["error"]["code"] == -32603


def test_recall_tells_how_many_archived_memories_match(backend: LocalBackend, tmp_path: Path) -> None:
    called = _serve(backend, _remember("the piano stands in the hall"))
    memory = called["result"]["structuredContent"]["memory"]["id"]
    recall = request("tools/call", {**ENVELOPE, "name": "recall", "arguments": {"query": "piano"}})
    assert "archived" not in _serve(backend, recall)["result"]["content"][0]["text"]
    with Recollectum(tmp_path / "home", settings={"storage.reserve_mib": 0}) as home:
        home.vault("user:alice").memories.move(memory, "archived")
    found = _serve(backend, recall)["result"]
    assert found["structuredContent"]["archived"] == {"count": 1, "cut": False, "ids": [memory]}
    (said,) = found["content"]
    assert "1 archived memory matches; `list` with state archived shows them" in said["text"]
    assert "recollectum memories restore" in said["text"]
    assert "hall" not in said["text"]
