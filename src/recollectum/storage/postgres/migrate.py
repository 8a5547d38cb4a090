"""Migrates the catalog's and the vaults' schema on a PostgreSQL server: one numbered step per transaction.

Servers are upgraded one after the other, so older programs run beside a newer schema for a while. Each step says from
which program on that is allowed, by a line of its own before the first statement:

    -- oldest: 0011

Programs that know step 11 of the same kind may go on. Without the line a step needs a program that knows it. A step may
name an older program only if that loses nothing and fails at nothing: a new table whose rows go with those they belong
to, a new column with a default, a new index. What no program uses any more is removed by a later release.
"""

import hashlib
import re
from collections.abc import Iterator, Sequence
from datetime import timedelta
from functools import cache
from pathlib import Path
from typing import Any, LiteralString, cast

from psycopg import Connection, errors, sql

from recollectum.domain.errors import Busy, SchemaEdited, SchemaNewer, StorageError
from recollectum.domain.ids import Clock
from recollectum.domain.records import dataclass
from recollectum.storage.engine import CATALOG, VAULT
from recollectum.storage.postgres.roles import APPLICATION, OWNER
from recollectum.storage.times import micros

#: The schema of each kind of database. Both have tables of one name, so they cannot share one.
SCHEMAS = {CATALOG: "recollectum_catalog", VAULT: "recollectum"}
#: Where the statements of each kind find their tables. Temporary tables come last: nobody can put one before a table.
PATHS = {CATALOG: "recollectum_catalog, recollectum, pg_temp", VAULT: "recollectum, pg_temp"}
#: How long a step waits for a lock; those who wait behind it wait as long.
LOCK_TIMEOUT = timedelta(seconds=10)

_FOLDER = Path(__file__).parents[1] / "migrations"
_DIGEST = 32
#: The key of the lock that lets one migrator work at a time; any number that nobody else uses.
_ONE_AT_A_TIME = 7_265_636_111
_LOCK = "SELECT pg_advisory_xact_lock(%s)"
_WAIT = "SELECT set_config('lock_timeout', %s, true)"
_BECOME_OWNER = sql.SQL("SET LOCAL ROLE {owner}").format(owner=sql.Identifier(OWNER))
_SEARCH = "SELECT set_config('search_path', %s, true)"
_CREATE = "CREATE SCHEMA IF NOT EXISTS {schema}"
_MAY_USE = "GRANT USAGE ON SCHEMA {schema} TO {application}"
_LEDGER = """
    CREATE TABLE IF NOT EXISTS {schema}.migrations (
        number     bigint PRIMARY KEY,
        name       text COLLATE "C" NOT NULL,
        digest     text COLLATE "C" NOT NULL,
        applied_at bigint NOT NULL,
        oldest     bigint
    )
"""
_HAS_OLDEST = """
    SELECT 1 FROM pg_attribute
     WHERE attrelid = to_regclass(%s || '.migrations') AND attname = 'oldest' AND NOT attisdropped
"""
_ADD_OLDEST = "ALTER TABLE {schema}.migrations ADD COLUMN oldest bigint"
_MAY_READ = "GRANT SELECT ON {schema}.migrations TO {application}"
_IS_THERE = "SELECT 1 FROM pg_tables WHERE schemaname = %s AND tablename = 'migrations'"
#: Through JSON, because a ledger from before the column has none.
_APPLIED = """
    SELECT number, name, digest, coalesce((to_jsonb(one) ->> 'oldest')::bigint, number) FROM {schema}.migrations AS one
     ORDER BY number
"""
_RECORD = "INSERT INTO {schema}.migrations (number, name, digest, applied_at, oldest) VALUES (%s, %s, %s, %s, %s)"
_OLDEST = re.compile(r"\A(?:--[^\n]*\n|\n)*?-- oldest: (\d{4})\n")


@dataclass(frozen=True, slots=True)
class SchemaStep:
    """One numbered step of one kind of database."""

    family: str
    number: int
    name: str
    sql: str

    @property
    def label(self) -> str:
        """Return the name of the step for people."""
        return f"{self.family} {self.number:04} {self.name}"

    @property
    def oldest(self) -> int:
        """Return the step that a program must know to go on after this one."""
        found = _OLDEST.search(self.sql)
        return int(found[1]) if found else self.number

    @property
    def digest(self) -> str:
        """Return the digest stored in the ledger, which shows that a step was edited after it ran."""
        return hashlib.sha256(self.sql.encode()).hexdigest()[:_DIGEST]


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """One step as the ledger of a database has it."""

    number: int
    name: str
    digest: str
    #: The step that a program must know to go on after this one.
    oldest: int


@cache
def shipped() -> tuple[SchemaStep, ...]:
    """Return the steps in the order in which they run: the catalog's first, because vaults are numbered in it."""
    return tuple(step for family in (CATALOG, VAULT) for step in _of(family))


def _of(family: str) -> Iterator[SchemaStep]:
    for file in sorted((_FOLDER / family).glob("*.postgres.sql")):
        yield SchemaStep(family, int(file.name[:4]), file.name[5:-13], file.read_text("utf-8"))


def schema_digest() -> str:
    """Return one digest of all steps."""
    return hashlib.sha256("".join(step.digest for step in shipped()).encode()).hexdigest()[:_DIGEST]


def pending(connection: Connection[Any]) -> tuple[SchemaStep, ...]:
    """Return the steps that have not run yet; raise for an edited schema, or a newer one that bars this program."""
    return tuple(step for family in (CATALOG, VAULT) for step in _pending(connection, family))


def newer(connection: Connection[Any]) -> tuple[str, ...]:
    """Return the steps of a newer program; raise when this program may not go on beside them."""
    return tuple(
        f"{family} {step.number:04} {step.name}"
        for family in (CATALOG, VAULT)
        for step in _newer(_applied(connection, SCHEMAS[family]), family, connection.info.dbname)
    )


def upgrade(connection: Connection[Any], *, clock: Clock, waiting: timedelta = LOCK_TIMEOUT) -> tuple[SchemaStep, ...]:
    """Run the pending steps as the migrator, and return those that this call ran; one migrator works at a time."""
    ran: list[SchemaStep] = []
    try:
        while step := _run_next(connection, clock, waiting):
            ran.append(step)
    except errors.LockNotAvailable:
        raise Busy(
            f"the schema of {connection.info.dbname} could not be locked within {waiting.total_seconds():g} s, because "
            "another upgrade or a long transaction runs; run it again"
        ) from None
    except errors.InsufficientPrivilege as refused:
        raise StorageError(
            f"{connection.info.user} may not change the schema of {connection.info.dbname} "
            f"({refused.diag.message_primary}); connect as the migrator, a member of {OWNER}"
        ) from None
    return tuple(ran)


def _run_next(connection: Connection[Any], clock: Clock, waiting: timedelta) -> SchemaStep | None:
    """Run the first pending step in one transaction, which holds the migrators' lock to its end."""
    with connection.transaction():
        connection.execute(_WAIT, (f"{waiting // timedelta(milliseconds=1)}ms",))
        connection.execute(_LOCK, (_ONE_AT_A_TIME,))
        connection.execute(_BECOME_OWNER)
        due = pending(connection)
        if not due:
            return None
        step = due[0]
        _prepare_schema(connection, SCHEMAS[step.family])
        connection.execute(_SEARCH, (PATHS[step.family],))
        # The shipped file itself: nothing of a value is in it.
        connection.execute(cast("LiteralString", step.sql))
        record = (step.number, step.name, step.digest, micros(clock()), step.oldest)
        connection.execute(_named(_RECORD, SCHEMAS[step.family]), record)
        return step


def _prepare_schema(connection: Connection[Any], schema: str) -> None:
    if connection.execute(_IS_THERE, (schema,)).fetchall():
        if not connection.execute(_HAS_OLDEST, (schema,)).fetchall():
            connection.execute(_named(_ADD_OLDEST, schema))
        return
    for statement in (_CREATE, _MAY_USE, _LEDGER, _MAY_READ):
        connection.execute(_named(statement, schema))


def _named(statement: LiteralString, schema: str) -> sql.Composed:
    return sql.SQL(statement).format(schema=sql.Identifier(schema), application=sql.Identifier(APPLICATION))


def _pending(connection: Connection[Any], family: str) -> Sequence[SchemaStep]:
    steps = tuple(_of_shipped(family))
    found = _applied(connection, SCHEMAS[family])
    _newer(found, family, connection.info.dbname)
    applied = {step.number: step.digest for step in found}
    for step in steps:
        if step.number in applied and applied[step.number] != step.digest:
            raise SchemaEdited(
                f"{connection.info.dbname}: {step.label} is not the step that was applied; "
                "install the release that made this schema"
            )
    # The first step is all that the steps before it lead to.
    return [step for step in steps if step.number not in applied]


def _newer(applied: Sequence[AppliedStep], family: str, database: str) -> list[AppliedStep]:
    known = max(step.number for step in _of_shipped(family))
    found = [step for step in applied if step.number > known]
    barred = max(found, key=lambda step: (step.oldest, step.number), default=None)
    if barred and barred.oldest > known:
        raise SchemaNewer(
            f"the {family} schema in {database} was changed by a newer Recollectum: step {barred.number} "
            f"({barred.name}) needs a program that knows step {barred.oldest}, and this one knows {known}; "
            "upgrade the program"
        )
    return found


def _of_shipped(family: str) -> Iterator[SchemaStep]:
    return (step for step in shipped() if step.family == family)


def _applied(connection: Connection[Any], schema: str) -> list[AppliedStep]:
    if not connection.execute(_IS_THERE, (schema,)).fetchall():
        return []
    return [AppliedStep(*row) for row in connection.execute(_named(_APPLIED, schema)).fetchall()]
