"""`import recollect` is cheap, and leaves what is heavy to the call that needs it."""

import subprocess
import sys

BUDGET_S = 0.150
HEAVY = frozenset({"asyncio", "cryptography", "keyring", "platformdirs", "rich", "typer"})


def _child(program: str) -> str:
    return subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout


def test_import_stays_within_its_cpu_budget() -> None:
    program = "import time; t = time.process_time(); import recollect; print(time.process_time() - t)"
    # The best of several: a busy machine makes a run slower, never faster.
    assert min(float(_child(program)) for _ in range(5)) <= BUDGET_S


def test_import_loads_nothing_heavy() -> None:
    loaded = set(_child("import recollect, sys; print(*sys.modules)").split())
    assert "recollect" in loaded
    assert not loaded & HEAVY
