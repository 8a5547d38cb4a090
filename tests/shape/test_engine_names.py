"""Above storage nobody names a database file, and nobody writes in the language of one engine."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.shape.source import Module, modules

#: A file of a database or its log, as part of a text that is used and not only told to people.
_FILE = re.compile(r"\.db\b|-wal\b|-shm\b|-journal\b")
_BELOW = ("src/recollectum/storage/", "src/recollectum/home/")


def named_files(module: Module) -> Iterator[tuple[int, str]]:
    """Every text in the code, but not in a docstring, that names a file of a database."""
    tree = module.tree
    told = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            for found in _FILE.findall(node.value):
                yield node.lineno, found


def test_nobody_above_storage_names_a_database_file() -> None:
    found = [
        f"{module.path}:{line} {name}"
        for module in modules("src")
        if not module.path.startswith(_BELOW)
        for line, name in named_files(module)
    ]
    assert not found, "ask storage.engine for these: " + ", ".join(found)


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ('home.root / "catalog.db"', 1),
        ('path.with_name(f"{path.name}-wal")', 1),
        ('folder.glob("*.db")', 1),
        ('"""Opens catalog.db."""', 0),
        ('"a debt"', 0),
    ],
)
def test_the_search_for_names_finds_them(text: str, count: int) -> None:
    assert len(list(named_files(Module("x.py", text)))) == count
