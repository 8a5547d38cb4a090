"""Bundles of collaborators stay small: a service that needs one more is given it, not everybody."""

import ast
from collections.abc import Iterator

import pytest

from tests.shape.source import Module, modules

#: So many fields of one dataclass or named tuple may be services or callables.
COLLABORATORS = 7
ROOMS = tuple(f"src/recollectum/{room}" for room in ("runtime.py", "engine.py", "vault/", "upkeep/"))
#: Larger ones, with the reason.
EXCEPTIONS = {
    "OpenVault": "it is no bundle for a service: its parts are opened and closed together, under one cache",
    "PurgeEnvironment": "a purge touches every part of a home, because each may hold what has to be erased",
}
_VALUES = ("recollectum.domain", "recollectum.policy")


def too_large(module: Module) -> Iterator[tuple[str, int]]:
    names = {"Callable", "Clock", "IdMaker"}
    for node in module.nodes:
        source = (isinstance(node, ast.ImportFrom) and node.module) or ""
        if isinstance(node, ast.ImportFrom) and source.startswith("recollectum.") and not source.startswith(_VALUES):
            names |= {one.asname or one.name for one in node.names}
        if isinstance(node, ast.ClassDef) and not _is_bundle(node) and not _is_enum(node):
            names.add(node.name)
    for node in module.nodes:
        if isinstance(node, ast.ClassDef) and _is_bundle(node):
            fields = [one for one in node.body if isinstance(one, ast.AnnAssign)]
            count = sum(bool(_words(one.annotation) & names) for one in fields)
            if count > COLLABORATORS:
                yield node.name, count


def _is_bundle(node: ast.ClassDef) -> bool:
    said = [ast.unparse(one) for one in (*node.decorator_list, *node.bases)]
    return any(one.startswith("dataclass") or one == "NamedTuple" for one in said)


def _is_enum(node: ast.ClassDef) -> bool:
    return any(ast.unparse(one).endswith("Enum") for one in node.bases)


def _words(annotation: ast.expr) -> set[str]:
    """The names in a type, also in one that is written as a string."""
    found = {one.id for one in ast.walk(annotation) if isinstance(one, ast.Name)}
    quoted = [one.value for one in ast.walk(annotation) if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return found.union(*(_words(ast.parse(text, mode="eval").body) for text in quoted))


def test_no_bundle_holds_more_collaborators_than_its_limit() -> None:
    seen = [module for module in modules("src") if module.path.startswith(ROOMS)]
    assert len(seen) > 100
    found = dict(one for module in seen for one in too_large(module))
    assert found.keys() == EXCEPTIONS.keys(), found


@pytest.mark.parametrize(("count", "large"), [(7, []), (8, [("Bundle", 8)])])
def test_the_limit_is_seen(count: int, large: list[tuple[str, int]]) -> None:
    fields = "".join(f'    f{number}: "Log | None"\n' for number in range(count))
    text = f"from recollectum.home.logs import Log\n@dataclass\nclass Bundle:\n{fields}    name: str\n"
    assert list(too_large(Module("one.py", text))) == large
