"""Runs pytest on a small test of its own, for the tests of the plugins."""

import os
import subprocess
import sys
from pathlib import Path

_ROOT = Path(__file__).parents[2]


def run_pytest(
    folder: Path, test: str, *arguments: str, plugin: str, **environment: str
) -> subprocess.CompletedProcess[str]:
    """Write `test` into `folder` and run it there under one of our plugins."""
    (folder / "test_it.py").write_text(test, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-p",
        f"tests.plugins.{plugin}",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:schemathesis",
    ]
    path = os.pathsep.join([str(_ROOT), os.environ["PYTHONPATH"]])
    return subprocess.run(
        [*command, "-c", os.devnull, "--rootdir", str(folder), *arguments, str(folder)],
        env={**os.environ, "PYTHONPATH": path, **environment},
        capture_output=True,
        text=True,
    )
