"""A purge on PostgreSQL: rows go at once, a person's key first, and the receipt says what the server may still hold."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import StorageError
from recollectum.vault.purge.request import PurgeRequest, PurgeState, Receipt
from tests.plugins.postgres import PostgresDatabase

_ROWS = "SELECT (SELECT count(*) FROM recollectum.memories), (SELECT count(*) FROM recollectum.messages)"


def _rows(postgres: PostgresDatabase) -> object:
    with psycopg.connect(postgres.administrator_url) as administrator:
        return administrator.execute(_ROWS).fetchall()[0]


@pytest.mark.parametrize(("encryption", "form"), [("auto", "ciphertext"), ("off", "plain text")])
def test_the_receipt_says_until_when_the_server_may_hold_what(
    postgres: PostgresDatabase, tmp_path: Path, encryption: str, form: str
) -> None:
    settings = {"storage.url": postgres.url(), "storage.remains_days": 7, "encryption": encryption}
    with Recollectum(tmp_path / "home", settings=settings) as home:
        vault = home.vault("user:ada")
        kept = vault.memories.save("The boiler is serviced in October")
        gone = vault.memories.save("The spare key is under the third flowerpot")
        seen = vault.privacy.purge.preview(PurgeRequest.memories(gone.memory.id))
        receipt = vault.privacy.purge.run(seen.token)
        assert receipt.state is PurgeState.DONE
        (place,), (foreseen,) = receipt.elsewhere, seen.elsewhere
        held, _, day = place.partition(", until ")
        assert held == foreseen.partition(", until ")[0]
        assert held.endswith(f", as {form}")
        ahead = datetime.fromisoformat(day).replace(tzinfo=UTC) - datetime.now(UTC)
        assert timedelta(days=5) < ahead <= timedelta(days=7)
        assert [one.id for one in vault.memories.list()] == [kept.memory.id]
        assert not vault.recall("flowerpot")
    assert _rows(postgres) == (1, 0)


def _two_people(home: Recollectum) -> None:
    for name in ("ada", "bob"):
        home.people.add(f"user:{name}")
        home.vault(f"user:{name}").memories.save(f"{name} likes the third flowerpot")


def _purge_person(home: Recollectum) -> Receipt:
    purge = home.vault("user:ada").privacy.purge
    return purge.run(purge.preview(PurgeRequest.user()).token)


def test_a_purge_of_a_person_leaves_the_rows_of_others(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={"storage.url": postgres.url()}) as home:
        _two_people(home)
        receipt = _purge_person(home)
        assert receipt.state is PurgeState.DONE
        assert "ciphertext whose key is destroyed" in receipt.elsewhere[0]
        assert [one.content for one in home.vault("user:bob").memories.list()] == ["bob likes the third flowerpot"]
    assert _rows(postgres) == (1, 0)


def test_the_key_of_a_person_goes_before_the_rows_which_the_next_open_deletes(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    settings = {"storage.url": postgres.url()}
    with psycopg.connect(postgres.administrator_url, autocommit=True) as administrator:
        with Recollectum(tmp_path / "home", settings=settings) as home:
            _two_people(home)
            administrator.execute("REVOKE DELETE ON recollectum.memories FROM recollectum_application")
            with pytest.raises(StorageError):
                _purge_person(home)
            runtime = home._runtime  # pyright: ignore[reportPrivateUsage]
            assert [runtime.keys.has_key(one) for one in runtime.engine.vault_ids()].count(True) == 1
        assert _rows(postgres) == (2, 0)
        administrator.execute("GRANT DELETE ON recollectum.memories TO recollectum_application")
    with Recollectum(tmp_path / "home", settings=settings) as home:
        assert [one.content for one in home.vault("user:bob").memories.list()] == ["bob likes the third flowerpot"]
    assert _rows(postgres) == (1, 0)
