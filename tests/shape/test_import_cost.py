"""`import recollectum` is cheap, and leaves what is heavy to the call that needs it; so does the first save."""

import ast
import json
from pathlib import Path

import pytest

from recollectum import Recollectum
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
#: Characters of the patterns that a process compiles to open a home and save a plain sentence; a millisecond for 300.
PATTERNS, LONGEST_PATTERN = 5_000, 240
_FIRST_SAVE = """
import inspect, json, re, sys
compiled, sources = re._compile, []
def note(pattern, flags):
    frame = inspect.currentframe()
    while frame and frame.f_code.co_filename in (re.__file__, "<string>"):
        frame = frame.f_back
    if frame and "recollectum" in frame.f_globals.get("__name__", ""):
        sources.append(pattern)
    return compiled(pattern, flags)
re._compile = note
from recollectum import Recollectum
with Recollectum("HOME") as home:
    home.vault("user:ann").memories.save("the car is red")
print(json.dumps([sources, sorted(sys.modules)]))
"""


@pytest.mark.parametrize("statement", BUDGETS_S)
def test_import_stays_within_its_cpu_budget(statement: str, tmp_path: Path) -> None:
    taken, limit = best_and_limit(lambda: import_seconds(statement, tmp_path), BUDGETS_S[statement], tmp_path)
    assert taken <= limit


def test_import_loads_nothing_heavy(tmp_path: Path) -> None:
    loaded = set(run("import sys; from recollectum import Recollectum; print(*sys.modules)", tmp_path).split())
    assert "recollectum" in loaded
    assert not loaded & HEAVY


def test_the_first_save_of_a_plain_sentence_compiles_few_and_short_patterns(tmp_path: Path) -> None:
    folder = tmp_path / "home"
    # A new home asks a keyring, which imports much.
    Recollectum(folder).close()
    sources: list[str]
    loaded: list[str]
    sources, loaded = json.loads(run(_FIRST_SAVE.replace("HOME", str(folder)), tmp_path / "compiled"))
    assert "recollectum.text.secrets.redaction" in loaded
    assert not {"shutil", "tempfile", "numpy", "rich", "typer"} & set(loaded)
    assert 0 < sum(map(len, sources)) <= PATTERNS
    assert max(map(len, sources)) <= LONGEST_PATTERN, max(sources, key=len)


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
