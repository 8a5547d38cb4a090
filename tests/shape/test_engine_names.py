"""Above storage nobody names a database file, and nobody writes in the language of one engine."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.shape.source import Module, modules

#: A file of a database or its log, as part of a text that is used and not only told to people.
_FILE = re.compile(r"\.db\b|-wal\b|-shm\b|-journal\b")
#: How FTS5 wants its questions: quoted phrases with a star, and words between them.
_SYNTAX = re.compile(r'"" ?\*|" \*$|\bMATCH [?:]|\bNEAR\(|\bfts5', re.IGNORECASE)
_BELOW = ("src/recollectum/storage/", "src/recollectum/home/")


def found_texts(module: Module, form: re.Pattern[str]) -> Iterator[tuple[int, str]]:
    """What the form finds in the texts of the code, docstrings left out."""
    nodes = module.nodes
    told = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in told:
            for found in form.findall(node.value):
                yield node.lineno, found


def _outside(form: re.Pattern[str]) -> list[str]:
    return [
        f"{module.path}:{line} {name}"
        for module in modules("src")
        if not module.path.startswith(_BELOW)
        for line, name in found_texts(module, form)
    ]


def test_nobody_above_storage_names_a_database_file() -> None:
    found = _outside(_FILE)
    assert not found, "ask storage.engine for these: " + ", ".join(found)


def test_nobody_above_storage_writes_in_the_syntax_of_fts5() -> None:
    found = _outside(_SYNTAX)
    assert not found, "give the port words and let storage/sqlite quote them: " + ", ".join(found)


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
    assert len(list(found_texts(Module("x.py", text), _FILE))) == count


@pytest.mark.parametrize("text", ["x = f'\"{word}\" *'", 'x = "WHERE search MATCH ?"', 'x = "NEAR(a b)"'])
def test_the_search_for_syntax_finds_it(text: str) -> None:
    assert list(found_texts(Module("x.py", text), _SYNTAX))
