"""Implements a transaction of the database port on one connection to PostgreSQL."""

from collections.abc import Hashable, Sequence
from contextlib import AbstractContextManager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

from psycopg import Cursor, RawCursor, pq

from recollectum.domain.errors import StorageError
from recollectum.storage.port import Params, Row, StandIns, TextIndex
from recollectum.storage.postgres.connections.connection import Connected
from recollectum.storage.postgres.connections.sending import Outbox, RowReader, Sent
from recollectum.storage.postgres.dialect import ROW_NUMBER
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

_LAST_NUMBERS = "SELECT name, last FROM counters"


class KeptState:
    """What a process knows of a vault after the write with one mark: rows of small tables, and the last numbers.

    A transaction begins with a copy, changes it as it writes, and leaves it to the next one when it is committed.
    """

    def __init__(self) -> None:
        #: The rows that statements found, by the table that they read, and by the statement with its values.
        self.rows: dict[str, dict[tuple[object, ...], list[Row]]] = {}
        #: The last numbers of tables whose rows the client numbers.
        self.numbers: dict[str, int] = {}
        #: Whether rows were read since this was copied.
        self.grew = False

    def copy(self) -> "KeptState":
        """Return the same, for a transaction to change."""
        other = KeptState()
        other.rows = {table: dict(found) for table, found in self.rows.items()}
        other.numbers = dict(self.numbers)
        return other

    def forget(self, table: str | None) -> None:
        """Forget what is known of a table that is changed; an empty name may be any, and None is none."""
        if table is None:
            return
        self.rows.pop(table, None)
        self.numbers.pop(table, None)
        if not table:
            self.rows.clear()
        if table in ("", "counters"):
            self.numbers.clear()


class TransactionContext:
    """What the transactions of one open database share: its vault and key, its statements, and what is in memory."""

    def __init__(self, vault: int | None, statements: Statements, sealing: PlainValues) -> None:
        #: The number of the vault; None for the catalog.
        self.vault = vault
        self.statements = statements
        self.sealing = sealing
        self._tokens: TokenCache | None = None
        #: The mark of a write, and what is known of the vault after it; replaced as a whole.
        self._kept: tuple[str, KeptState] = ("", KeptState())

    def kept_after(self, mark: str) -> KeptState:
        """Return what is known of the vault as it is after the write with a mark."""
        known, kept = self._kept
        return kept.copy() if mark and mark == known else KeptState()

    def keep(self, mark: str, state: KeptState) -> None:
        """Keep what is known after the write with a mark, until another mark is seen."""
        if mark:
            self._kept = (mark, state)

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
        self._kept = ("", KeptState())
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
    #: The mark of the last write that it sees, besides its own; empty if nobody knows.
    mark: str = ""


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
        self._outbox = Outbox(connection, plans=writes and context.vault is not None)
        self._reader = RowReader(connection)
        self._context = context
        self._changes = start.changes
        self._now = start.now
        self.from_replica = start.from_replica
        self._writes = writes
        self._text: PostgresTextIndex | None = None
        #: What is known of the vault as this transaction sees it.
        self.kept = context.kept_after(start.mark)

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
        statement = self._context.statements.find(self._connection, sql)
        if statement.numbered:
            return self._add_row(statement, params)
        rows = self._reader.rows(self._execute(statement, params))
        return statement.unsealed(rows, self._context.sealing) if statement.sealed else rows

    def kept_rows(self, table: str, sql: str, params: Params) -> list[Row]:
        """Return the rows of a statement, from memory where nobody wrote to the table since they were read."""
        kept, asked = self.kept.rows.setdefault(table, {}), (sql, *params.values())
        found = kept.get(asked)
        if found is None:
            found = kept[asked] = self.rows(sql, params)
            self.kept.grew = True
        return found

    def run(self, sql: str, params: Params) -> int:
        """Run a statement, and return the number of changed rows."""
        statement = self._context.statements.find(self._connection, sql)
        if statement.numbered:
            self._add_row(statement, params)
            return 1
        answer = self._execute(statement, params)
        return answer.ntuples or answer.command_tuples or 0

    def time(self, here: datetime) -> datetime:  # noqa: ARG002 - the clock of this host decides nothing
        """Return the server's time when this transaction began, or when a write got its turn."""
        return moment(self._now)

    def add_rows(self, sql: str, rows: Sequence[Params]) -> list[Row]:
        """Run an INSERT of one row for all rows at once; return the rows of its RETURNING, none of which is sealed."""
        if not rows:
            return []
        if len(rows) == 1:
            statement = self._context.statements.find(self._connection, sql)
            return self.rows(sql, rows[0]) if statement.returns else self._add_row(statement, rows[0])
        statement = self._context.statements.find_of_rows(self._connection, sql)
        found: list[Row] = []
        numbers = range(0)
        if statement.numbered:
            numbers = self._numbers(statement.numbered.table, len(rows))
            found = [(number,) for number in numbers] if statement.numbered.returns else []
        else:
            self.kept.forget(statement.changed)
        for columns in statement.batches(rows, self._context.sealing, numbers):
            sent = Sent(statement.sent, [column.data for column in columns])
            if statement.returns:
                found += self._reader.rows(self._outbox.run(sent, keeps_plan=statement.keeps_plan))
            else:
                self._outbox.post(sent, keeps_plan=statement.keeps_plan)
        return found

    def _add_row(self, statement: Statement, row: Params) -> list[Row]:
        """Let an INSERT wait for the next statement: it returns nothing, or a number that is known here."""
        added: list[Row] = []
        if statement.numbered:
            (number,) = self._numbers(statement.numbered.table, 1)
            row = {**row, ROW_NUMBER: number}
            added = [(number,)] if statement.numbered.returns else []
        else:
            self.kept.forget(statement.changed)
        check_params(row)
        encoded = statement.encoded(row, self._context.sealing)
        if encoded is None:
            self._execute(statement, row)
        else:
            self._outbox.post(Sent(statement.sent, encoded), keeps_plan=statement.keeps_plan)
        return added

    def _numbers(self, table: str, count: int) -> range:
        """Return the numbers of new rows. This transaction alone writes to its vault, so no other one takes them."""
        known = self.kept.numbers
        if table not in known:
            known[table] = dict(self.rows(_LAST_NUMBERS, {})).get(table, 0)
        first = known[table] + 1
        known[table] += count
        return range(first, first + count)

    @property
    def stand_ins(self) -> StandIns:
        """Return what replaces texts in columns that are not encrypted."""
        return self._context.sealing

    def _execute(self, statement: Statement, params: Params) -> "pq.abc.PGresult":
        check_params(params)
        if not statement.numbered:
            self.kept.forget(statement.changed)
        encoded = statement.encoded(params, self._context.sealing)
        if encoded is not None:
            return self._outbox.run(Sent(statement.sent, encoded), keeps_plan=statement.keeps_plan)
        self._outbox.flush()
        values = statement.values(params, self._context.sealing)
        return _answer_of(RawCursor(self._connection).execute(statement.sent, values, binary=True))

    def send(self, sql: str, values: Sequence[object] = ()) -> "Cursor[Row]":
        """Run a statement in the server's dialect, with values as they are stored; nothing is encrypted on the way."""
        self._outbox.flush()
        self.kept.forget("")
        return RawCursor(self._connection).execute(sql.encode(), values, binary=True, prepare=False)

    def rest(self) -> list[Sent]:
        """Return what is still to be sent, with the COMMIT."""
        if self._text:
            self._text.flush()
        return self._outbox.take()

    def entered(self, context: TransactionContext) -> "PostgresTx":
        """Go on in a new vault with a transaction of the catalog, and return the transaction as the vault's."""
        self.rows(_ENTER, {"vault": str(context.vault)})
        inside = PostgresTx(self._connection, context, TransactionStart(0, self._now), writes=self._writes)
        # What waits is sent in the order in which it came, whichever of the two it came from.
        inside._outbox = self._outbox
        return inside

    def reading_once(self) -> AbstractContextManager[None]:
        """Do nothing: the server decides which pages it keeps."""
        return nullcontext()


def make_durable(tx: PostgresTx) -> None:
    """Let the COMMIT reach the disk, and the standbys that the server waits for, whatever its default is."""
    tx.send(_DURABLE)


def _answer_of(cursor: "Cursor[Row]") -> pq.abc.PGresult:
    answer = cursor.pgresult
    if answer is None:
        raise StorageError("the server answered a statement with nothing; try again")
    return answer
