"""`recollectum --help` is quick, and every command and option says what it does."""

import os
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest
from typer.core import TyperArgument, TyperOption

from tests.doors.cli.calls import PROGRAM, ok
from tests.shape.yardstick import best_and_limit
from tools.reference import commands

pytestmark = pytest.mark.process

#: CPU seconds, on a machine that does nothing else.
BUDGET_S = 0.3
_MEASURE = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)
spent = resource.getrusage(resource.RUSAGE_CHILDREN)
print(spent.ru_utime + spent.ru_stime)
"""


def cpu_seconds(compiled: Path, *line: str) -> float:
    """What one program costs, with everything the interpreter does before and after it."""
    # Compiled once, as an installed program is: the first run pays for that, and is not the best.
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(
        [sys.executable, "-c", _MEASURE, *line],
        check=True,
        capture_output=True,
        text=True,
        env={**kept, "PYTHONPYCACHEPREFIX": str(compiled)},
    )
    return float(done.stdout)


def test_help_stays_within_its_cpu_budget(tmp_path: Path) -> None:
    taken, limit = best_and_limit(lambda: cpu_seconds(tmp_path, *PROGRAM, "--help"), BUDGET_S, tmp_path)
    assert taken <= limit


@pytest.fixture(scope="module", name="loaded")
def fixture_loaded() -> frozenset[str]:
    """The modules that `--help` imports."""
    program = "import sys; from recollectum.doors.cli.main import main; main(['--help']); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    return frozenset(done.stdout.split())


def test_help_loads_nothing_heavy(loaded: frozenset[str]) -> None:
    assert "typer" in loaded
    assert not {"apsw", "rich", "pydantic", "asyncio", "cryptography", "recollectum.engine"} & loaded


def test_help_loads_nothing_that_works_on_a_vault(loaded: frozenset[str]) -> None:
    # A command checks what it was given by the shapes of the intake; a service brings eighty modules with it.
    shapes = {"recollectum.vault", "recollectum.vault.intake"} | {
        f"recollectum.vault.intake.{name}" for name in ("draft", "new_message")
    }
    rooms = ("recall", "vault", "storage.tables", "policy", "models", "context", "distil", "transfer")
    assert shapes <= loaded
    assert not {
        name for name in loaded - shapes if f"{name}.".startswith(tuple(f"recollectum.{one}." for one in rooms))
    }


def test_there_are_at_most_forty_seven_commands() -> None:
    first = {path.split()[1] for path, _ in commands() if " " in path}
    assert len(first) <= 47, sorted(first)
    # Each of these has become a part of another one.
    assert not first & {"diff", "grow", "retention", "verify"}


@pytest.mark.parametrize("path", [path for path, _ in commands()])
def test_every_command_says_what_it_does(path: str) -> None:
    command = dict(commands())[path]
    assert (command.help or "").strip().endswith(".")
    for one in cast("list[TyperArgument | TyperOption]", command.params):
        assert one.help or one.name == "help", f"{path} {one.name}"
    words = path.split()[1:]
    assert (command.help or "").split()[0] in ok(*words, "--help").out
