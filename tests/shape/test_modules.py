"""Modules say their one job, have names that mean something, and catch only what they expect."""

import ast
from collections.abc import Iterator
from pathlib import PurePosixPath

import pytest

from tests.shape.source import Module, modules

EMPTY_NAMES = frozenset({"utils", "util", "helpers", "helper", "common", "base", "manager", "handler", "misc"})

#: Modules that may catch everything without raising it again, with the reason.
BROAD_EXCEPTS: dict[str, str] = {
    "src/recollectum/doors/cli/terminal/errors.py": "a fault of ours is told by its place, not by its text",
    "src/recollectum/doors/hook/worker.py": "one event that cannot be served must not end it for all",
    "src/recollectum/doors/hook/client.py": "an agent must not break because its memory does",
    "src/recollectum/home/keys/keyring_holder.py": "a keyring is a plug-in: its errors share no base, and become ours",
    "src/recollectum/models/rerank/cross_encoder.py": "errors of onnxruntime and tokenizers share no base",
    "src/recollectum/storage/sqlite/group_commit.py": "an error of shared work goes to the caller whose work it was",
    "src/recollectum/upkeep/rounds/duties.py": "a fault in one round must stop neither the others nor the daemon",
}


def job_is_said(module: Module) -> bool:
    """Whether the file begins with a docstring whose first line is a sentence."""
    first = (ast.get_docstring(module.tree, clean=False) or "").partition("\n")[0]
    return first.endswith((".", "?"))


def broad_excepts(module: Module) -> Iterator[int]:
    """The lines that catch anything at all and keep it."""
    for node in module.nodes:
        if isinstance(node, ast.ExceptHandler) and _is_broad(node.type) and not _passes_on(node):
            yield node.lineno


def _is_broad(caught: ast.expr | None) -> bool:
    kinds = caught.elts if isinstance(caught, ast.Tuple) else [caught]
    return any(kind is None or ast.unparse(kind) in ("Exception", "BaseException") for kind in kinds)


def _passes_on(handler: ast.ExceptHandler) -> bool:
    """A handler that tidies and raises again hides nothing."""
    last = handler.body[-1]
    return isinstance(last, ast.Raise) and last.exc is None


def test_every_module_says_its_job_in_its_first_line() -> None:
    silent = [module.path for module in modules("src", "bench", "tools") if not job_is_said(module)]
    assert not silent, "begin these with a docstring whose first line is one sentence: " + ", ".join(silent)


def test_no_module_has_a_name_that_says_nothing() -> None:
    empty = [
        module.path
        for module in modules("src", "tests", "bench", "tools")
        if EMPTY_NAMES & set(PurePosixPath(module.path).with_suffix("").parts)
    ]
    assert not empty, "name these for what they do: " + ", ".join(empty)


def test_nothing_is_caught_that_was_not_expected() -> None:
    broad = [
        f"{module.path}:{line}"
        for module in modules("src")
        if module.path not in BROAD_EXCEPTS
        for line in broad_excepts(module)
    ]
    assert not broad, "name the exceptions, or give a reason in BROAD_EXCEPTS: " + ", ".join(broad)


def test_no_leave_to_catch_everything_outlives_its_need() -> None:
    broad = {module.path for module in modules("src") if any(broad_excepts(module))}
    assert not BROAD_EXCEPTS.keys() - broad, "these catch nothing broad now; take them out of BROAD_EXCEPTS"
    assert all(reason.strip() for reason in BROAD_EXCEPTS.values())


@pytest.mark.parametrize(
    ("caught", "seen"),
    [
        ("except:\n    pass", [3]),
        ("except Exception:\n    pass", [3]),
        ("except (OSError, Exception) as error:\n    print(error)", [3]),
        ("except BaseException:\n    tidy()", [3]),
        ("except BaseException:\n    tidy()\n    raise", []),
        ("except OSError:\n    pass", []),
    ],
)
def test_a_broad_except_is_seen(caught: str, seen: list[int]) -> None:
    assert list(broad_excepts(Module("x.py", f"try:\n    work()\n{caught}\n"))) == seen


@pytest.mark.parametrize("text", ['"""One job, said whole."""', '"""One job.\n\nAnd more about it.\n"""'])
def test_a_module_that_says_its_job_passes(text: str) -> None:
    assert job_is_said(Module("x.py", text))


@pytest.mark.parametrize("text", ['"""\nA line too late.\n"""', '"""Not a sentence"""', "import os", ""])
def test_a_silent_module_is_seen(text: str) -> None:
    assert not job_is_said(Module("x.py", text))
