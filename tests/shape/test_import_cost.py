"""`import recollectum` is cheap, and leaves what is heavy to the call that needs it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process

#: CPU seconds for each import, on a machine that does nothing else.
BUDGETS_S = {"import recollectum": 0.110, "from recollectum import Recollectum": 0.110, "import recollectum.aio": 0.150}
#: Modules that do not change with ours, and the CPU seconds of importing them on the machine of the budgets.
YARDSTICK = (
    "import asyncio, concurrent.futures.process, ctypes.util, email.mime.multipart, http.server, logging.config, pdb, "
    "sqlite3, tarfile, unittest.mock, xml.dom.minidom, xmlrpc.client, zipfile"
)
YARDSTICK_S = 0.080
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


def _cpu_seconds(statement: str, cache: Path) -> float:
    return float(_child(f"import time; t = time.process_time(); {statement}; print(time.process_time() - t)", cache))


@pytest.mark.parametrize("statement", BUDGETS_S)
def test_import_stays_within_its_cpu_budget(statement: str, tmp_path: Path) -> None:
    # The best of several, in turns: neighbours who share the cores and their caches make every run slower.
    runs = [(_cpu_seconds(statement, tmp_path), _cpu_seconds(YARDSTICK, tmp_path)) for _ in range(8)]
    taken, yardstick = map(min, zip(*runs, strict=True))
    assert taken <= BUDGETS_S[statement] * max(1, yardstick / YARDSTICK_S)


def test_import_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = set(_child("import sys; from recollectum import Recollectum; print(*sys.modules)", tmp_path).split())
    assert "recollectum" in loaded
    assert not loaded & HEAVY
