"""Implements a transaction of the database port on one connection to PostgreSQL."""

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from psycopg import Cursor, RawCursor, pq

from recollectum.domain.errors import StorageError
from recollectum.storage.port import Params, Row, StandIns, TextIndex
from recollectum.storage.postgres.connections.connection import Connected
from recollectum.storage.postgres.connections.sending import RowReader, sender_of
from recollectum.storage.postgres.sealing import PlainValues
from recollectum.storage.postgres.statements import Statement, Statements
from recollectum.storage.tables.parameters import check_params
from recollectum.storage.times import moment

if TYPE_CHECKING:
    from recollectum.storage.postgres.full_text.text_index import PostgresTextIndex
    from recollectum.storage.postgres.full_text.token_cache import TokenCache

_DURABLE = """
    SELECT set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)
"""
_ENTER = "SELECT set_config('search_path', 'recollectum, pg_temp', true), set_config('recollectum.vault', :vault, true)"


class TransactionContext:
    """What the transactions of one open database share: its vault and key, its statements and its tokens in memory."""

    def __init__(self, vault: int | None, statements: Statements, sealing: PlainValues) -> None:
        #: The number of the vault; None for the catalog.
        self.vault = vault
        self.statements = statements
        self.sealing = sealing
        self._tokens: TokenCache | None = None

    def under(self, sealing: PlainValues) -> "TransactionContext":
        """Return the same with another key: the tokens are the same, whatever their rows are encrypted under."""
        other = TransactionContext(self.vault, self.statements, sealing)
        other._tokens = self._tokens
        return other

    @property
    def held_bytes(self) -> int:
        """Return how many bytes the tokens take in memory."""
        return self._tokens.held_bytes if self._tokens else 0

    def forget_tokens(self) -> None:
        """Forget the tokens in memory, so that those of deleted rows are gone too."""
        if self._tokens:
            self._tokens.clear()

    @property
    def tokens(self) -> "TokenCache":
        """Return the tokens of the vault, which are read when the first question is asked."""
        if self._tokens is None:
            # Import here: it needs numpy, and many programs search nothing.
            from recollectum.storage.postgres.full_text.token_cache import TokenCache  # noqa: PLC0415

            self._tokens = TokenCache()
        return self._tokens


class TransactionStart(NamedTuple):
    """What the server says when a transaction begins: the number of changes, and its time in microseconds."""

    changes: int
    now: int
    from_replica: bool = False


class PostgresTx:
    """One transaction. It sees `changes` changes of its database, its own among them if it writes."""

    #: Texts are encrypted before they are sent.
    reads_texts = False
    #: The server checks its own pages.
    has_seals = False
    page_rows = 4096

    def __init__(
        self, connection: Connected, context: TransactionContext, start: TransactionStart, *, writes: bool
    ) -> None:
        self._connection = connection
        self._sender = sender_of(connection)
        self._reader = RowReader(connection)
        self._context = context
        self._changes = start.changes
        self._now = start.now
        self.from_replica = start.from_replica
        self._writes = writes
        self._text: PostgresTextIndex | None = None

    @property
    def state(self) -> Hashable:
        """Return the vault and the number of its changes."""
        return self._context.vault, self._changes

    @property
    def text(self) -> TextIndex:
        """Return the full-text index; made when it is needed, because most transactions use none."""
        if self._text is None:
            # Import here: it needs numpy, and many programs search nothing.
            from recollectum.storage.postgres.full_text.text_index import PostgresTextIndex  # noqa: PLC0415

            self._text = PostgresTextIndex(self, self._context.tokens, self._changes, writes=self._writes)
        return self._text

    def rows(self, sql: str, params: Params) -> list[Row]:
        """Run a statement, and return its rows."""
        statement, answer = self._execute(sql, params)
        rows = self._reader.rows(answer)
        return statement.unsealed(rows, self._context.sealing) if statement.sealed else rows

    def run(self, sql: str, params: Params) -> int:
        """Run a statement, and return the number of changed rows."""
        answer = self._execute(sql, params)[1]
        return answer.ntuples or answer.command_tuples or 0

    def time(self, here: datetime) -> datetime:  # noqa: ARG002 - the clock of this host decides nothing
        """Return the server's time when this transaction began, or when a write got its turn."""
        return moment(self._now)

    def add_rows(self, sql: str, rows: Sequence[Params]) -> list[Row]:
        """Run an INSERT of one row for all rows at once; return the rows of its RETURNING, none of which is sealed."""
        if not rows:
            return []
        statement = self._context.statements.find_of_rows(self._connection, sql)
        found: list[Row] = []
        for columns in statement.batches(rows, self._context.sealing):
            answer = self._sender.run(self._connection, statement.sent, [column.data for column in columns])
            found += self._reader.rows(answer)
        return found

    @property
    def stand_ins(self) -> StandIns:
        """Return what replaces texts in columns that are not encrypted."""
        return self._context.sealing

    def _execute(self, sql: str, params: Params) -> "tuple[Statement, pq.abc.PGresult]":
        check_params(params)
        statement = self._context.statements.find(self._connection, sql)
        encoded = statement.encoded(params, self._context.sealing)
        if encoded is not None:
            return statement, self._sender.run(self._connection, statement.sent, encoded)
        values = statement.values(params, self._context.sealing)
        cursor = RawCursor(self._connection).execute(statement.sent, values, binary=True)
        return statement, _answer_of(cursor)

    def send(self, sql: str, values: Sequence[object] = ()) -> "Cursor[Row]":
        """Run a statement in the server's dialect, with values as they are stored; nothing is encrypted on the way."""
        return RawCursor(self._connection).execute(sql.encode(), values, binary=True, prepare=False)

    def make_durable(self) -> None:
        """Let the COMMIT reach the disk, and the standbys that the server waits for, whatever its default is."""
        self.send(_DURABLE)

    def flush(self) -> None:
        """Send what is still to be sent, before the transaction is committed."""
        if self._text:
            self._text.flush()

    def entered(self, context: TransactionContext) -> "PostgresTx":
        """Go on in a new vault with a transaction of the catalog, and return the transaction as the vault's."""
        self.rows(_ENTER, {"vault": str(context.vault)})
        return PostgresTx(self._connection, context, TransactionStart(0, self._now), writes=self._writes)

    def reading_once(self) -> AbstractContextManager[None]:
        """Do nothing: the server decides which pages it keeps."""
        return nullcontext()


def _answer_of(cursor: "Cursor[Row]") -> pq.abc.PGresult:
    answer = cursor.pgresult
    if answer is None:
        raise StorageError("the server answered a statement with nothing; try again")
    return answer
