"""The wheel holds the package and nothing for developers: each module of it is used by the package or by its users."""

import ast
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.shape.source import Module

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "recollectum"
#: Run as programs (`python -m`), or imported by those who use the package.
FOR_USERS = frozenset(
    {
        "recollectum",
        "recollectum.__main__",
        "recollectum.testing",
        "recollectum.adapters.claude_agent",
        "recollectum.adapters.llama_index",
        "recollectum.adapters.a2a",
        "recollectum.adapters.openai_agents",
        "recollectum.doors.cli.entry",
        "recollectum.doors.hook.__main__",
        "recollectum.doors.mcp.__main__",
        # Until the engine that uses it is here.
        "recollectum.storage.postgres.full_text.text_index",
        "recollectum.storage.postgres.migrate",
    }
)
_OURS = re.compile(r"recollectum(?:\.\w+)+")


def shipped(folder: Path = PACKAGE) -> dict[str, Path]:
    """The modules that the wheel holds, by name."""
    found = (path for path in folder.rglob("*.py") if "__pycache__" not in path.parts)
    return {_name(path.relative_to(folder.parent)): path for path in found}


def unused(modules: dict[str, Path]) -> set[str]:
    """The modules that nothing in the package names: those of developers, and dead ones."""
    named = {name for own, path in modules.items() for name in _named(path) if name != own}
    return {name for name, path in modules.items() if name not in named and path.name != "__init__.py"} - FOR_USERS


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _named(path: Path) -> Iterator[str]:
    for node in Module(f"src/{path.name}", path.read_text(encoding="utf-8")).nodes:
        match node:
            case ast.Import(names=names):
                yield from (one.name for one in names)
            case ast.ImportFrom(module=str(module), names=names):
                yield from (module, *(f"{module}.{one.name}" for one in names))
            case ast.Constant(value=str(text)):
                # A program that is started by its name.
                yield from _OURS.findall(text)
            case _:
                continue


def test_the_wheel_is_the_package_alone() -> None:
    built = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["hatch"]["build"]["targets"]
    assert built["wheel"] == {"packages": ["src/recollectum"]}


def test_no_module_of_the_wheel_is_for_developers_only() -> None:
    assert unused(shipped()) == set()


def test_the_package_imports_nothing_that_is_not_shipped() -> None:
    outside = {"bench", "tests", "tools"}
    found = {
        (name, one) for name, path in shipped().items() for one in _named(path) if one.partition(".")[0] in outside
    }
    assert found == set()


def test_a_module_for_developers_is_seen(tmp_path: Path) -> None:
    package = tmp_path / "recollectum"
    package.mkdir()
    (package / "__init__.py").write_text("from recollectum.used import x\n")
    (package / "used.py").write_text('x = "recollectum.started"\n')
    (package / "started.py").write_text("")
    (package / "demo.py").write_text("import recollectum.demo\n")
    assert unused(shipped(package)) == {"recollectum.demo"}
