"""The first recall of a process on PostgreSQL waits for the server a few times, also in a larger vault."""

from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.storage.postgres.statements import Statements
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.intake.draft import Draft
from recollectum.vault.intake.new_message import NewMessage
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.plugins.postgres import PostgresDatabase
from tests.storage.postgres.cutting_proxy import proxied


def _open(folder: Path, url: str) -> Recollectum:
    return open_home(folder, Turning(), settings={"storage.url": url}, embedder=ScriptedEmbedder())


def _fill(vault: Vault, count: int) -> None:
    vault.memories.save_many([Draft(content=f"the car number {number} of Ann is red") for number in range(count)])
    said = [NewMessage(role="user", content=f"boat {number} in a harbour", speaker="Ann") for number in range(count)]
    vault.sessions.open().add_many(said)
    vault.admin.index.update()


def test_the_first_recall_of_a_process_waits_as_often_in_a_larger_vault(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    counts: list[int] = []
    with proxied(postgres) as (proxy, url):
        for number in (20, 400):
            with _open(tmp_path, url) as home:
                _fill(home.vault("user:alice"), number)
            with _open(tmp_path, url) as home:
                # What a process reads once is no part of it.
                home.vault("user:bob").recall("red car")
                vault = home.vault("user:alice")
                vault.admin.totals()
                proxy.trips = 0
                assert vault.recall("red car", meaning=True)
                counts.append(proxy.trips)
    assert counts[1] <= counts[0] + 2


def test_the_types_of_a_statement_are_asked_in_one_round_trip(postgres: PostgresDatabase) -> None:
    statements = Statements(in_vault=True)
    with proxied(postgres) as (proxy, url), psycopg.connect(url, autocommit=True) as connection:
        connection.execute("SET search_path = recollectum")
        proxy.trips = 0
        found = statements.find(connection, "SELECT value FROM meta WHERE name = :name")
        assert (proxy.trips, found.names, found.sealed) == (1, ("name",), (0,))
        with pytest.raises(psycopg.errors.UndefinedTable):
            statements.find(connection, "SELECT value FROM nowhere WHERE name = :name")
        assert connection.execute("SELECT 1").fetchall() == [(1,)]


def test_a_connection_lost_while_types_are_asked_is_not_used_again(postgres: PostgresDatabase) -> None:
    with psycopg.connect(postgres.administrator_url, autocommit=True) as administrator:
        connection = psycopg.connect(postgres.url(), autocommit=True)
        administrator.execute("SELECT pg_terminate_backend(%s)", (connection.info.backend_pid,))
        with pytest.raises(psycopg.OperationalError):
            Statements(in_vault=True).find(connection, "SELECT value FROM meta WHERE name = :name")
        assert connection.closed
