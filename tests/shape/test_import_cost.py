"""`import recollectum` is cheap, and leaves what is heavy to the call that needs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

#: CPU seconds for each import.
BUDGETS_S = {"import recollectum": 0.110, "from recollectum import Recollectum": 0.110, "import recollectum.aio": 0.150}
HEAVY = frozenset(
    {
        "asyncio",
        "cryptography",
        "keyring",
        "numpy",
        "onnxruntime",
        "platformdirs",
        "rich",
        "tokenizers",
        "tomlkit",
        "typer",
    }
)


def _child(program: str, cache: Path) -> str:
    # With compiled modules, as an installed package has them, wherever this run keeps its own.
    environ = {**os.environ, "PYTHONPYCACHEPREFIX": str(cache)}
    environ.pop("PYTHONDONTWRITEBYTECODE", None)
    return subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, env=environ
    ).stdout


@pytest.mark.parametrize("statement", BUDGETS_S)
def test_import_stays_within_its_cpu_budget(statement: str, tmp_path: Path) -> None:
    program = f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)"
    # The best of several: a busy machine makes a run slower, never faster.
    assert min(float(_child(program, tmp_path)) for _ in range(8)) <= BUDGETS_S[statement]


def test_import_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = set(_child("import sys; from recollectum import Recollectum; print(*sys.modules)", tmp_path).split())
    assert "recollectum" in loaded
    assert not loaded & HEAVY
