"""Files, functions, classes, constructors and protocols stay small enough to be seen whole."""

import ast
from collections.abc import Iterator
from functools import cache

import pytest

from tests.shape.source import Module, methods, modules, named

FILE_LINES = 400
FUNCTION_LINES = 60
PUBLIC_METHODS = 12
CONSTRUCTOR_PARAMETERS = 8
PROTOCOL_METHODS = 6

#: What may be larger, as the finding names it up to its colon, with the reason. The limits themselves only go down.
EXCEPTIONS: dict[str, str] = {
    "src/recollectum/__init__.py": "the list of every public name, for programs and for type checkers",
    "src/recollectum/storage/engine.py::Engine": "the whole list of what a second engine must do, in one place",
    "src/recollectum/storage/engine.py::EngineUpkeep": "the other half of that list: copies, checks and repairs",
    "src/recollectum/storage/shared/key_place.py::KeyPlace": "all that is asked of the keys, in a file and a database",
}


def findings(module: Module) -> Iterator[str]:
    """Everything in the file that is over a limit."""
    if (lines := len(module.text.splitlines())) > FILE_LINES:
        yield f"{module.path}: {lines} lines, at most {FILE_LINES}"
    for name, node in named(module.tree):
        where = f"{module.path}::{name}"
        if isinstance(node, ast.ClassDef):
            yield from _class_findings(where, node)
        elif (lines := (node.end_lineno or node.lineno) - node.lineno + 1) > FUNCTION_LINES:
            yield f"{where}: {lines} lines, at most {FUNCTION_LINES}"


def _class_findings(where: str, node: ast.ClassDef) -> Iterator[str]:
    found = methods(node)
    public = [name for name in found if not name.startswith("_")]
    if len(public) > PUBLIC_METHODS:
        yield f"{where}: {len(public)} public methods, at most {PUBLIC_METHODS}"
    if _is_protocol(node) and len(found) > PROTOCOL_METHODS:
        yield f"{where}: {len(found)} methods in a protocol, at most {PROTOCOL_METHODS}"
    if "__init__" in found and (count := _parameters(found["__init__"])) > CONSTRUCTOR_PARAMETERS:
        yield f"{where}.__init__: {count} parameters, at most {CONSTRUCTOR_PARAMETERS}"


def _is_protocol(node: ast.ClassDef) -> bool:
    bases = [base.value if isinstance(base, ast.Subscript) else base for base in node.bases]
    return any(ast.unparse(base).rpartition(".")[2] == "Protocol" for base in bases)


def _parameters(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """How many a caller may give, which leaves out self."""
    return len(node.args.posonlyargs + node.args.args + node.args.kwonlyargs) - 1


@cache
def _findings() -> tuple[str, ...]:
    return tuple(finding for module in modules("src", "tests", "bench", "tools") for finding in findings(module))


def test_everything_is_within_its_limit() -> None:
    over = [finding for finding in _findings() if finding.partition(": ")[0] not in EXCEPTIONS]
    assert not over, "split these, or give a reason in EXCEPTIONS:\n" + "\n".join(over)


def test_no_exception_outlives_its_need() -> None:
    found = {finding.partition(": ")[0] for finding in _findings()}
    assert not EXCEPTIONS.keys() - found, "these are within the limit now; take them out of EXCEPTIONS"


def test_every_exception_gives_a_reason() -> None:
    assert all(reason.strip() for reason in EXCEPTIONS.values())


def _class(methods_count: int, *, base: str = "", parameters: int = 0) -> str:
    body = [f"    def m{number}(self): ..." for number in range(methods_count)]
    arguments = ", ".join(f"p{number}" for number in range(parameters))
    return "\n".join([f"class C({base}):", *body, f"    def __init__(self, {arguments}): ..."])


@pytest.mark.parametrize(
    ("small", "large", "complaint"),
    [
        ("\n" * 400, "\n" * 401, "x.py: 401 lines, at most 400"),
        ("def f():\n" + "    1\n" * 59, "def f():\n" + "    1\n" * 60, "x.py::f: 61 lines, at most 60"),
        (_class(12), _class(13), "x.py::C: 13 public methods, at most 12"),
        (_class(5, base="Protocol"), _class(6, base="t.Protocol[T]"), "x.py::C: 7 methods in a protocol, at most 6"),
        (_class(0, parameters=8), _class(0, parameters=9), "x.py::C.__init__: 9 parameters, at most 8"),
    ],
)
def test_the_limits_are_measured(small: str, large: str, complaint: str) -> None:
    assert not list(findings(Module("x.py", small)))
    assert list(findings(Module("x.py", large))) == [complaint]


def test_a_function_inside_a_function_is_measured_too() -> None:
    text = "class C:\n    def outer(self):\n        def inner():\n" + "            1\n" * 60
    assert [finding.partition(": ")[0] for finding in findings(Module("x.py", text))] == [
        "x.py::C.outer",
        "x.py::C.outer.inner",
    ]
