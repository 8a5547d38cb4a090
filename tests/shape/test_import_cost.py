"""`import recollectum` is cheap, and leaves what is heavy to the call that needs it."""

from pathlib import Path

import pytest

from tests.shape.yardstick import best_and_limit, import_seconds, run

pytestmark = pytest.mark.process

#: CPU seconds for each import, on a machine that does nothing else.
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


@pytest.mark.parametrize("statement", BUDGETS_S)
def test_import_stays_within_its_cpu_budget(statement: str, tmp_path: Path) -> None:
    taken, limit = best_and_limit(lambda: import_seconds(statement, tmp_path), BUDGETS_S[statement], tmp_path)
    assert taken <= limit


def test_import_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = set(run("import sys; from recollectum import Recollectum; print(*sys.modules)", tmp_path).split())
    assert "recollectum" in loaded
    assert not loaded & HEAVY
