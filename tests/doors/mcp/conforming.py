"""Runs the official conformance suite against a server on loopback, all scenarios of one version in one process."""

import json
import re
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from tests.tools.npm import node, node_package

PACKAGE, VERSION = "@modelcontextprotocol/conformance", "0.2.0-alpha.12"
#: The suite adds this to what a scenario looks at: each message that came is valid by the protocol's own schema.
WIRE = "wire-schema-valid"
_FINE = ("SUCCESS", "INFO")


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the suite says of one scenario: the status of each of its checks, and what was wrong."""

    statuses: tuple[tuple[str, str], ...]
    complaints: str

    @property
    def passed(self) -> bool:
        """Whether something was looked at and all of it was right; what was skipped or only warned of is not."""
        looked = any(status == "SUCCESS" for check, status in self.statuses if check != WIRE)
        return looked and not self.short_of()

    def short_of(self) -> set[str]:
        """The checks that did not succeed."""
        return {check for check, status in self.statuses if status not in _FINE}


def verdicts(spec: str, url: str, folder: Path) -> Mapping[str, Verdict]:
    """What each scenario of one version of the protocol says of a server."""
    out = folder / spec
    done = _suite(
        "server", "--url", url, "--suite", "all", "--spec-version", spec, "--output-dir", str(out), cwd=folder
    )
    found: dict[str, Verdict] = {}
    for file in out.glob("server-*/checks.json"):
        # The name of the scenario, then the time it ran at.
        name = re.sub(r"^server-(.*)-\d{4}-\d\d-\d\dT[\d-]+Z$", r"\1", file.parent.name)
        found[name] = _verdict(json.loads(file.read_bytes()))
    assert found, done.stdout + done.stderr
    return found


def listed(folder: Path) -> Mapping[str, frozenset[str]]:
    """Every scenario for servers that the package has, with the versions of the protocol it is for."""
    done = _suite("list", "--server", cwd=folder)
    rows = re.findall(r"^  - (\S+) \[(.*)\]$", done.stdout, re.MULTILINE)
    return {name: frozenset(versions.split(",")) for name, versions in rows}


def _verdict(checks: Iterable[Mapping[str, str]]) -> Verdict:
    told = list(checks)
    wrong = [f"{one['id']}: {one['status']}: {one.get('errorMessage')}" for one in told if one["status"] not in _FINE]
    return Verdict(tuple((one["id"], one["status"]) for one in told), "\n".join(wrong))


def _suite(*line: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    program = node_package(PACKAGE, VERSION) / "dist" / "index.js"
    return subprocess.run(
        [str(node()), str(program), *line], capture_output=True, text=True, check=False, timeout=120, cwd=cwd
    )


class WithKey:
    """Adds a key to each request that has none, as those of the suite; everything else of a request is as it came."""

    def __init__(self, app: ASGIApp, key: str) -> None:
        self._app = app
        self._header = (b"authorization", f"Bearer {key}".encode())

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and all(name != b"authorization" for name, _ in scope["headers"]):
            scope = {**scope, "headers": [*scope["headers"], self._header]}
        await self._app(scope, receive, send)
