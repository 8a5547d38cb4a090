"""`import recollectum` is cheap, and leaves what is heavy to the call that needs it."""

import ast
from pathlib import Path

import pytest

from tests.shape.source import modules
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


def test_dataclasses_are_made_by_the_decorator_that_compiles_little() -> None:
    # The standard one takes half a millisecond for each frozen class, and a search loads 150 of them.
    standard = [
        module.path
        for module in modules("src/recollectum")
        for node in module.nodes
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if any(one.name == "dataclass" for one in node.names)
    ]
    assert not standard, "import dataclass from recollectum.domain.records in " + ", ".join(standard)
