"""Records the SQL statements of each request in our server, so that a bare one can run the same."""

from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import apsw

Statement: TypeAlias = tuple[str, Any]


@dataclass(slots=True)
class PerVault:
    """The file of one vault, and the statements of each of its recalls and adds."""

    path: str
    key: bytes | None
    recalls: dict[str, list[Statement]] = field(default_factory=dict[str, list[Statement]])
    adds: list[list[Statement]] = field(default_factory=list[list[Statement]])


@dataclass(slots=True)
class Tape:
    """The statements since the last `take`."""

    statements: list[Statement] = field(default_factory=list[Statement])

    def note(self, _cursor: object, sql: str, bindings: Any) -> bool:  # noqa: ANN401 - as apsw has it
        """Record one statement, and let it run."""
        self.statements.append((sql, bindings))
        return True

    def take(self) -> list[Statement]:
        """Return what ran, without the checks of the connection's own settings."""
        taken = [one for one in self.statements if not one[0].lstrip().upper().startswith("PRAGMA")]
        self.statements.clear()
        return taken


@contextmanager
def taped() -> Generator[Tape]:
    """Record every connection that is opened inside the block."""
    tape = Tape()

    def watch(connection: apsw.Connection) -> None:
        connection.exec_trace = tape.note

    apsw.connection_hooks.append(watch)
    try:
        yield tape
    finally:
        apsw.connection_hooks.remove(watch)
