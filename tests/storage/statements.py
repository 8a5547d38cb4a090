"""Counts the statements that reach SQLite, by the trace of its connections."""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager

import apsw

#: What frames a transaction is not counted: another engine sends it along with the first and the last statement.
_FRAME = ("BEGIN", "COMMIT", "ROLLBACK", "SAVEPOINT", "RELEASE")


class StatementLog:
    """The statements since it was last asked, of all connections that were opened under it."""

    def __init__(self) -> None:
        self._seen: list[str] = []

    def note(self, _: apsw.Cursor, sql: str, __: object) -> bool:
        """Keep a statement, and let it run."""
        self._seen.append(" ".join(sql.split()))
        return True

    def of(self, work: Callable[[], object]) -> Sequence[str]:
        """The statements that the work sends, without those that frame a transaction."""
        self._seen.clear()
        work()
        return [sql for sql in self._seen if not sql.upper().startswith(_FRAME)]


@contextmanager
def traced() -> Generator[StatementLog]:
    """Trace every connection that is opened from here on."""
    log = StatementLog()

    def hook(connection: apsw.Connection) -> None:
        connection.exec_trace = log.note

    apsw.connection_hooks.append(hook)
    try:
        yield log
    finally:
        apsw.connection_hooks.remove(hook)
