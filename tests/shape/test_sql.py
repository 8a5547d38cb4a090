"""SQL stands in storage alone: no other module holds a statement or a part of one."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.shape.source import Module, modules

_STORAGE = "src/recollectum/storage/"
_SQL = re.compile(
    r"\bSELECT\b[^;]*\bFROM\b|\bINSERT\s+(?:OR\s+\w+\s+)?INTO\b|\bUPDATE\s+[\w.]+\s+SET\b|\bDELETE\s+FROM\b"
    r"|\bPRAGMA\s+\w|\bCREATE\s+(?:UNIQUE\s+|VIRTUAL\s+|TEMP\s+)*(?:TABLE|INDEX|TRIGGER|VIEW)\b|\bDROP\s+TABLE\b"
    r"|\bALTER\s+TABLE\b|\b(?:LEFT|CROSS|INNER)\s+JOIN\b|\bjson_each\s*\(",
    re.DOTALL,
)

#: Modules that may hold SQL all the same, with the reason.
EXCEPTIONS: dict[str, str] = {}


def findings(module: Module) -> Iterator[str]:
    """Every string of a module that is SQL, or a part of it."""
    for node in module.nodes:
        text = _text(node)
        if text is not None and (found := _SQL.search(text)):
            yield f"{module.path}:{getattr(node, 'lineno', 0)}: {' '.join(found.group().split())[:60]}"


def _text(node: ast.AST) -> str | None:
    """The text of a string, with a gap where it is put together."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return " x ".join(text for part in node.values if (text := _text(part)) is not None)
    return None


def test_only_storage_holds_sql() -> None:
    found = [
        finding
        for module in modules("src")
        if not module.path.startswith(_STORAGE)
        for finding in findings(module)
        if module.path not in EXCEPTIONS
    ]
    assert not found, "move these to storage/tables, or give a reason in EXCEPTIONS:\n" + "\n".join(found)


def test_no_exception_outlives_its_need() -> None:
    with_sql = {module.path for module in modules("src") if any(findings(module))}
    assert not EXCEPTIONS.keys() - with_sql, "these hold no SQL any more; take them out of EXCEPTIONS"


@pytest.mark.parametrize(
    "source",
    [
        'X = "SELECT id FROM memories WHERE id = :id"',
        'X = """\n    SELECT id,\n           name\n      FROM memories\n"""',
        'X = f"SELECT {COLUMNS} FROM {TABLE}"',
        'tx.run("INSERT INTO memories (id) VALUES (:id)", {})',
        'tx.run("INSERT OR REPLACE INTO memories (id) VALUES (:id)", {})',
        'tx.run("UPDATE memories SET id = 1", {})',
        'tx.run("DELETE FROM memories", {})',
        'X = "PRAGMA user_version"',
        'X = "  LEFT JOIN sessions ON sessions.id = messages.session_id"',
        'X = "id IN (SELECT value FROM json_each(:ids))"',
    ],
)
def test_a_statement_is_found(source: str) -> None:
    assert list(findings(Module("x.py", source)))


@pytest.mark.parametrize(
    "source",
    ['X = "select a memory from the list"', 'X = "Delete from here on"', "SELECT = FROM = 1", 'X = "update the set"'],
)
def test_prose_and_names_are_no_sql(source: str) -> None:
    assert not list(findings(Module("x.py", source)))
