"""The statements that a write of ours runs, recorded so that bare SQLite can run the same with nothing around them."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TypeAlias, TypeVar

import apsw

T = TypeVar("T")
#: As text: the type has a name for type checkers alone.
Statement: TypeAlias = "tuple[str, apsw.Bindings | None]"
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


@dataclass(slots=True)
class Recorder:
    """Listens on every connection that is opened after it; what it costs is a few microseconds a statement."""

    _heard: list[Statement] | None = field(default=None)

    def listen(self) -> None:
        """Hear of each connection from now on."""
        apsw.connection_hooks.append(self._attach)

    def record(self, work: Callable[[], T]) -> tuple[T, list[Statement]]:
        """What `work` returned, and the writes that it ran."""
        heard: list[Statement] = []
        self._heard = heard
        try:
            return work(), heard
        finally:
            self._heard = None

    def _attach(self, connection: apsw.Connection) -> None:
        def heard(_: apsw.Cursor, sql: str, bindings: "apsw.Bindings | None") -> bool:
            if self._heard is not None and sql.lstrip().startswith(_WRITES):
                self._heard.append((sql, bindings))
            return True

        connection.exec_trace = heard


def run_raw(connection: apsw.Connection, statements: list[Statement]) -> None:
    """Run the statements as one durable transaction, with nothing in between."""
    connection.execute("BEGIN IMMEDIATE")
    for sql, bindings in statements:
        connection.execute(sql, bindings).fetchall()
    connection.execute("COMMIT")
