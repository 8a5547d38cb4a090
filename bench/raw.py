"""The statements that a write of ours makes, taken down so that they can be run again without anything around them."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import cast

import apsw

from recollectum.storage.port import Params, Tx
from recollectum.storage.sqlite.database import SqliteTx

_TABLE = re.compile(r"(?:INSERT INTO|UPDATE)\s+(\w+)")

Statement = tuple[str, Params | tuple[int, str]]


@dataclass(slots=True)
class Script:
    """A connection that runs nothing: it takes the statements down and answers with the numbers they would get."""

    #: The last row number of each table, counted up as rows are added.
    numbers: dict[str, int]
    statements: list[Statement] = field(default_factory=list[Statement])
    _answer: list[tuple[int]] = field(default_factory=list[tuple[int]])

    def execute(self, sql: str, params: Params | tuple[int, str]) -> "Script":
        """Take a statement down."""
        self.statements.append((sql, dict(params) if isinstance(params, Mapping) else params))
        found = _TABLE.search(sql)
        assert found, f"only writes are taken down: {sql}"
        table = found.group(1)
        self.numbers[table] = self.numbers.get(table, 0) + 1
        self._answer = [(self.numbers[table],)]
        return self

    def fetchall(self) -> list[tuple[int]]:
        """The row number that the last statement would have returned."""
        return self._answer

    def changes(self) -> int:
        """One row, always."""
        return 1


def statements_of(work: Callable[[Tx], object], numbers: dict[str, int]) -> list[Statement]:
    """Every statement that `work` would run; `numbers` is counted up as a database would."""
    script = Script(numbers)
    work(SqliteTx(cast(apsw.Connection, script)))
    return script.statements


def last_numbers(connection: apsw.Connection) -> dict[str, int]:
    """The last row number of each table that has them; for sessions, the last position in the only one."""
    tables = {"memories": "number", "messages": "number", "chunks": "number", "sessions": "message_count"}
    query = "SELECT coalesce(max({column}), 0) FROM {table}"
    return {
        table: cast(int, connection.execute(query.format(column=column, table=table)).fetchall()[0][0])
        for table, column in tables.items()
    }


def run_raw(connection: apsw.Connection, statements: list[Statement]) -> None:
    """Run the statements as one durable transaction, with nothing in between."""
    connection.execute("BEGIN IMMEDIATE")
    for sql, params in statements:
        connection.execute(sql, params).fetchall()
    connection.execute("COMMIT")
