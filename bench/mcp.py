"""Measures how long an agent waits for its tools, and the cost of one more client: CPU time and memory."""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any

from bench.sizes import sized
from bench.surroundings import own_surroundings

_TURNS = sized(15, 2)
_BAR_SECONDS, _BAR_MIB = 0.4, 40
_PROGRAM = "import sys; from recollectum.doors.cli.entry import main; sys.exit(main(['mcp']))"
_HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        bare = median(_listing([sys.executable, "-c", "import sys; sys.stdin.read()"]) for _ in range(_TURNS))
        listing = median(_listing([sys.executable, "-c", _PROGRAM]) for _ in range(_TURNS))
        alone_s, alone_mib = _client()
        with _daemon():
            shared_s, shared_mib = _client()
    print("| what | cost | bar |\n|---|---|---|")
    print(f"| a process to `tools/list`, CPU | {listing * 1000:.0f} ms (bare Python {bare * 1000:.0f}) | ≤ 400 ms |")
    print(f"| its first `remember` without a daemon | {alone_s:.2f} s | |")
    print(f"| its memory without a daemon | {alone_mib:.0f} MiB | |")
    print(f"| its first `remember` through the daemon | {shared_s:.2f} s | |")
    print(f"| one more client beside the daemon | {shared_mib:.0f} MiB | ≤ {_BAR_MIB} MiB |")
    print(f"to tools/list: {listing / _BAR_SECONDS:.2f} of the bar; memory: {shared_mib / _BAR_MIB:.2f} of the bar")


def _listing(line: Sequence[str]) -> float:
    """Return the CPU seconds of a process from start to end, with one list in between."""
    asked = _line(1, "initialize", _HELLO) + _line(2, "tools/list")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(line, input=asked, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _client() -> tuple[float, float]:
    """Return the time of the first call, and the memory of the process after it, in MiB."""
    with subprocess.Popen([sys.executable, "-c", _PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        _ask(process, 1, "initialize", _HELLO)
        began = time.perf_counter()
        said = _ask(process, 2, "tools/call", {"name": "remember", "arguments": {"content": "Ann likes tea."}})
        taken = time.perf_counter() - began
        assert not said["result"]["isError"], said
        memory = _resident(process.pid)
        assert process.stdin is not None
        process.stdin.close()
        process.wait()
    return taken, memory


@contextmanager
def _daemon() -> Generator[None]:
    line = [sys.executable, "-m", "recollectum.doors.cli.main", "serve", "--port", "0", "--json"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, env=dict(os.environ)) as process:
        assert process.stdout is not None
        process.stdout.readline()
        try:
            yield
        finally:
            process.terminate()


def _ask(process: "subprocess.Popen[bytes]", id: int, method: str, params: dict[str, Any]) -> dict[str, Any]:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(_line(id, method, params))
    process.stdin.flush()
    return json.loads(process.stdout.readline())


def _line(id: int, method: str, params: dict[str, Any] | None = None) -> bytes:
    return json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params or {}}).encode() + b"\n"


def _resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return next(int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS"))
