"""Runs the official conformance scenarios against a server on loopback."""

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from tests.tools.npm import node, node_package

PACKAGE, VERSION = "@modelcontextprotocol/conformance", "0.2.0-alpha.12"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the suite says of one scenario."""

    passed: bool
    output: str


def scenario(name: str, spec: str, url: str, folder: Path) -> Verdict:
    """Run one scenario at one version of the protocol."""
    package = node_package(PACKAGE, VERSION)
    line = [str(node()), str(package / "dist" / "index.js"), "server", "--url", url, "--scenario", name]
    done = subprocess.run(
        [*line, "--spec-version", spec, "--output-dir", str(folder)],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
        cwd=folder,
    )
    # A scenario that was skipped also ends well, and proves nothing.
    counted = re.search(r"Passed: ([1-9]\d*)/\1, 0 failed", done.stdout)
    return Verdict(done.returncode == 0 and counted is not None, done.stdout + done.stderr)


class WithKey:
    """Adds a key to each request, because the suite has none; everything else of a request is as it came."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)
