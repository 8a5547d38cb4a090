"""The stdio front as a process, spoken to line by line."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

ENVELOPE = {
    "_meta": {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": {"name": "tester", "version": "1"},
    }
}
HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "tester", "version": "1"}}


def request(method: str, params: Mapping[str, Any] | None = None, id: int = 1) -> str:
    """One request as a line."""
    said = {"jsonrpc": "2.0", "id": id, "method": method}
    return json.dumps(said if params is None else {**said, "params": params})


def talk(lines: Sequence[str], *flags: str, program: Sequence[str] = ("-m", "recollectum.doors.mcp")) -> list[Any]:
    """What the front answers to lines, once it has ended well."""
    done = subprocess.run(
        [sys.executable, *program, *flags],
        input="".join(line + "\n" for line in lines),
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, "RECOLLECTUM_STORAGE__RESERVE_MIB": "0"},
    )
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]
