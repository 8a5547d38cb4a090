"""Records the SQL statements of our writes, so that bare SQLite can run the same without our code."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias, TypeVar

import apsw

T = TypeVar("T")
#: As text: the type has a name only for type checkers.
Statement: TypeAlias = "tuple[str, apsw.Bindings | None]"
_WRITES = ("INSERT", "UPDATE", "DELETE", "REPLACE")


@dataclass(slots=True)
class Recorder:
    """Listens on every connection that is opened after it; it costs a few microseconds per statement."""

    _heard: list[Statement] | None = field(default=None)
    _file: str = ""

    def listen(self) -> None:
        """Listen to each connection from now on."""
        apsw.connection_hooks.append(self._attach)

    def stop(self) -> None:
        """Listen to no further connection."""
        apsw.connection_hooks.remove(self._attach)

    def record(self, file: Path, work: Callable[[], T]) -> tuple[T, list[Statement]]:
        """Return what `work` returned, and the writes that it ran on a file."""
        with self.recording(file) as heard:
            return work(), heard

    @contextmanager
    def recording(self, file: Path) -> Generator[list[Statement]]:
        """Add the writes on a file to the list, until the block ends."""
        heard: list[Statement] = []
        # SQLite names a file by its real path.
        self._heard, self._file = heard, str(file.resolve())
        try:
            yield heard
        finally:
            self._heard = None

    def _attach(self, connection: apsw.Connection) -> None:
        def heard(cursor: apsw.Cursor, sql: str, bindings: "apsw.Bindings | None") -> bool:
            if (
                self._heard is not None
                and sql.lstrip().startswith(_WRITES)
                and cursor.connection.filename == self._file
            ):
                self._heard.append((sql, bindings))
            return True

        connection.exec_trace = heard


def run_raw(connection: apsw.Connection, statements: list[Statement]) -> None:
    """Run the statements as one durable transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for sql, bindings in statements:
        connection.execute(sql, bindings).fetchall()
    connection.execute("COMMIT")
