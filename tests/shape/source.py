"""Reads our own source as syntax trees, for the tests that look at its shape."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Module:
    """One Python file, named by its path from the root."""

    path: str
    text: str

    @property
    def tree(self) -> ast.Module:
        """The file's syntax tree."""
        # A dozen tests look at the package, and only one or two at the rest, which is not worth the memory.
        return _parse(self.text) if self.path.startswith("src/") else ast.parse(self.text)

    @property
    def nodes(self) -> tuple[ast.AST, ...]:
        """Every node of the file's syntax tree."""
        return _walk(self.text) if self.path.startswith("src/") else tuple(ast.walk(self.tree))


@cache
def _parse(text: str) -> ast.Module:
    return ast.parse(text)


@cache
def _walk(text: str) -> tuple[ast.AST, ...]:
    return tuple(ast.walk(_parse(text)))


def modules(*folders: str) -> Iterator[Module]:
    """Every Python file under the folders, in order."""
    for folder in folders:
        yield from _files(folder)


@cache
def _files(folder: str) -> tuple[Module, ...]:
    found = sorted((ROOT / folder).rglob("*.py"))
    return tuple(Module(path.relative_to(ROOT).as_posix(), path.read_text(encoding="utf-8")) for path in found)


def named(tree: ast.Module) -> Iterator[tuple[str, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef]]:
    """Every function and class with its dotted name, however deep it lies."""
    waiting: list[tuple[str, ast.AST]] = [("", tree)]
    while waiting:
        prefix, parent = waiting.pop()
        for node in ast.iter_child_nodes(parent):
            name = prefix
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                name = f"{prefix}.{node.name}".lstrip(".")
                yield name, node
            waiting.append((name, node))


def methods(node: ast.ClassDef) -> dict[str, ast.FunctionDef | ast.AsyncFunctionDef]:
    """The methods written in a class body; overloads and setters count once, and a property is a value."""
    found = (item for item in node.body if isinstance(item, ast.FunctionDef | ast.AsyncFunctionDef))
    return {item.name: item for item in found if not _is_property(item)}


def _is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any(isinstance(mark, ast.Name) and mark.id == "property" for mark in node.decorator_list)
