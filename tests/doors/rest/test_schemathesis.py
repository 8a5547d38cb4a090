"""schemathesis walks the whole OpenAPI document against a real server, and finds nothing."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.doors.http.served import serving

pytestmark = pytest.mark.process

EXAMPLES = 8
SEED = 7


@pytest.mark.loopback
def test_the_schema_says_what_the_server_does(tmp_path: Path) -> None:
    calm = {"server.rate_per_minute": 0, "server.address_rate_per_minute": 0, "server.failures_per_minute": 0}
    with serving(tmp_path / "home", settings=calm) as served:
        command = [
            str(Path(sys.executable).parent / "st"),
            "--config-file",
            str(Path(__file__).with_name("schemathesis.toml")),
            "run",
            f"http://127.0.0.1:{served.port}/openapi.json",
            "--header",
            f"Authorization: Bearer {served.secret}",
            "--max-examples",
            str(EXAMPLES),
            # More workers parse source at the same time, for which CPython 3.11.7 raises SystemError (gh-106905).
            "--workers",
            "1",
            "--seed",
            str(SEED),
            "--generation-database",
            "none",
            "--no-color",
        ]
        run = subprocess.run(
            command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, check=False, timeout=300
        )
    assert run.returncode == 0, run.stdout[-12_000:] + run.stderr[-2000:]
