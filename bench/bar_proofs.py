"""Measures rows by tests of the suite: how many of the named ones exist, and how many pass."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from bench.bar_row import Measured

_ROOT = Path(__file__).parents[1]
_COUNT = re.compile(r"(\d+) (passed|failed|error|errors|skipped)")


@dataclass(frozen=True, slots=True)
class Proofs:
    """Tests by their id, `file.py::test_name`, that together measure a row."""

    names: tuple[str, ...]

    def __call__(self, *, long: bool) -> Measured:
        """Run them in a separate process; a long run tries more examples of a law."""
        found = _run(self.names, examples=long)
        passed = found.pop("passed", 0)
        others = ", ".join(f"{count} {how}" for how, count in found.items())
        return Measured(
            f"{passed} cases pass" + (f", {others}" if others else ""), passed >= len(self.names) and not others
        )


def proofs(*names: str) -> Proofs:
    """Return the measure of a row that the suite has tests for."""
    return Proofs(names)


def _run(names: tuple[str, ...], *, examples: bool) -> dict[str, int]:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *(f"tests/{name}" for name in names)]
    environ = {**os.environ, "PYTHONPATH": ""} | ({"HYPOTHESIS_PROFILE": "thorough"} if examples else {})
    done = subprocess.run(command, cwd=_ROOT, env=environ, capture_output=True, text=True, check=False)
    last = done.stdout.strip().rpartition("\n")[2]
    counts = {how: int(count) for count, how in _COUNT.findall(last)}
    return counts or {"not run": 1}
