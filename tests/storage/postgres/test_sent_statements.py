"""What is no constant of the storage is noticed among the statements that a server saw."""

import pytest

from recollectum.domain.memory import Kind, State
from recollectum.storage.postgres.dialect import to_postgres
from recollectum.storage.postgres.scopes import vault_scope
from recollectum.storage.tables.content.memory_pages import newest
from tests.storage.postgres.sent_statements import foreign_statements


@pytest.mark.parametrize(
    "statement",
    [
        "SELECT value FROM meta WHERE name = 'a value'",
        "SELECT value FROM meta WHERE name = $1 OR true",
        "SELECT value FROM meta WHERE name = $1; DROP TABLE meta",
        vault_scope(1, "", lock_ms=1, statement_ms=1).read.decode() + " OR true",
    ],
)
def test_a_statement_with_something_in_it_is_foreign(statement: str) -> None:
    assert foreign_statements([statement])


@pytest.mark.parametrize(
    "statement",
    [
        "COMMIT",
        "SELECT value FROM meta WHERE name = $1",
        vault_scope(7, "", lock_ms=500, statement_ms=9000).write.decode(),
        to_postgres(newest(State.ACTIVE, (Kind.FACT, Kind.TASK)), in_vault=True).text,
    ],
)
def test_a_constant_is_known(statement: str) -> None:
    assert not foreign_statements([statement])
