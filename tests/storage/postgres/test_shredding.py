"""A purge with a new key: no key that is left opens what was erased in an older copy of the server."""

import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Damaged, KeyProblem, RecollectumError, StorageError, WrongKey
from recollectum.engine import open_keys
from recollectum.storage.engine import CATALOG
from recollectum.storage.postgres.sealing import SealedValues
from recollectum.upkeep.backup.backup import back_up
from recollectum.vault.purge.request import PurgeKind, PurgeRequest, PurgeState
from tests.plugins.postgres import PostgresDatabase
from tests.plugins.postgres_pairs import OwnServer
from tests.storage.postgres.rekeyed_homes import open_rekeyed, stored_values

OWNER, OTHER = "user:ada", "user:bob"
_SECRET = "the spare key is under the third flowerpot"


def _purge(home: Recollectum, request: PurgeRequest) -> Any:  # noqa: ANN401 - the preview and the receipt
    purge = home.vault(OWNER).privacy.purge
    seen = purge.preview(request)
    return seen, purge.run(seen.token)


def _fill(home: Recollectum) -> str:
    """Write what is kept and what will be erased, and return the id of that."""
    home.vault(OTHER).memories.save("bob likes the harbour")
    vault = home.vault(OWNER)
    vault.memories.save("ada likes the harbour")
    return vault.memories.save(_SECRET).memory.id


def _keys_left(home: Recollectum, room: Path) -> list[bytes]:
    """Every key that somebody with this home can have: its own, and those in its backups."""
    keys, root = home.admin.keys, home.home.root
    ids = [CATALOG, *home.admin.engine.vault_ids()]
    found = [keys.key(one) for one in ids if keys.has_key(one)]
    for number, backup in enumerate((root / "backups").rglob("keys.db")):
        place = room / str(number)
        shutil.copytree(root.parent / "config", place / "config")
        (place / "home").mkdir()
        shutil.copy(backup, place / "home" / "keys.db")
        environ = {"HOME": str(place / "user"), "XDG_CONFIG_HOME": str(place / "config")}
        opened = open_keys(place / "home", environ=environ)
        found += [opened.key(one) for one in ids if opened.has_key(one)]
        opened.close()
    return found


def _readable(postgres: PostgresDatabase, keys: list[bytes]) -> list[str]:
    """Every text of the server that one of these keys decrypts."""
    found: list[str] = []
    for values in stored_values(postgres).values():
        for value in values:
            for key in keys:
                try:
                    found.append(str(SealedValues(key).unseal(value)))
                except RecollectumError:
                    continue
    return found


def test_the_preview_and_the_receipt_say_what_becomes_of_older_copies(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    with open_rekeyed(tmp_path, postgres.url()) as home:
        gone = _fill(home)
        outside = back_up(home.admin, to=tmp_path / "stick").path
        inside = back_up(home.admin).path
        vault_id = next(one.id for one in home.admin.entries() if str(one.owner) == OWNER)
        key = home.admin.keys.key(vault_id)
        seen, receipt = _purge(home, PurgeRequest.memories(gone, shred=True))
        assert [place.partition(" of postgresql:")[0] for place in seen.unreadable] == [
            "the rows of this vault in dead rows, the log of changes, standbys and older base backups"
        ]
        assert (receipt.state, receipt.shredded, receipt.form) == (PurgeState.DONE, True, 3)
        elsewhere, server = receipt.elsewhere
        assert elsewhere.startswith(f"{outside} (made ")
        assert elsewhere.endswith("UTC), with the keys of its time, which open older copies too")
        assert ", as ciphertext whose key is destroyed, until " in server
        assert [one.partition(", until ")[0] for one in seen.elsewhere] == [elsewhere, server.partition(", until ")[0]]
        assert home.receipts.list() == [receipt]
        assert home.receipts.verify(receipt)
        assert home.admin.keys.key(vault_id) != key
        left = _keys_left(home, tmp_path / "left")
        assert key not in left
        assert [one.content for one in home.vault(OWNER).memories.list()] == ["ada likes the harbour"]
        assert _SECRET not in _readable(postgres, [key, *left])
        assert not (inside / "vaults" / f"{vault_id}.db").exists()
        assert [one.content for one in home.vault(OTHER).memories.list()] == ["bob likes the harbour"]


@contextmanager
def _put_back_afterwards(server: OwnServer) -> Generator[None]:
    """Make a base backup, and put it back at the end of the block."""
    copy = Path(f"{server.server.data}.base")
    server.stop()
    subprocess.run(["cp", "-a", server.server.data, copy], check=True)
    server.start()
    yield
    server.stop()
    shutil.rmtree(server.server.data)
    copy.rename(server.server.data)
    server.start()


def _open_older(place: Path, url: str, encryption: str = "auto") -> Recollectum:
    """Open a home whose database was put back: the first time that is refused."""
    with pytest.raises(Damaged, match="older than last seen"):
        open_rekeyed(place, url, encryption)
    return open_rekeyed(place, url, encryption)


def test_a_base_backup_from_before_gives_nothing_back_of_what_was_purged_with_a_new_key(
    own_server: OwnServer, tmp_path: Path
) -> None:
    url, postgres = own_server.database.url(), own_server.database
    with open_rekeyed(tmp_path, url) as home:
        gone = _fill(home)
        back_up(home.admin)
        before = _keys_left(home, tmp_path / "before")
    with _put_back_afterwards(own_server), open_rekeyed(tmp_path, url) as home:
        _, receipt = _purge(home, PurgeRequest.memories(gone, shred=True))
        assert receipt.state is PurgeState.DONE
        left = _keys_left(home, tmp_path / "left")
    # With the keys of its time: or the test would pass by looking at nothing.
    assert _SECRET in _readable(postgres, before)
    assert _SECRET not in _readable(postgres, left)
    with _open_older(tmp_path, url) as home:
        with pytest.raises(WrongKey, match="another key"):
            home.vault(OWNER).memories.list()
        assert [one.content for one in home.vault(OTHER).memories.list()] == ["bob likes the harbour"]
        assert home.receipts.list() == [receipt]


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_what_was_purged_without_a_new_key_is_erased_again_before_it_is_served(
    own_server: OwnServer, tmp_path: Path, encryption: str
) -> None:
    url = own_server.database.url()
    with open_rekeyed(tmp_path, url, encryption) as home:
        gone = _fill(home)
        chat = home.vault(OWNER).sessions.open(channel="test", agent="main")
        chat.add("user", "the alarm code is on the back of the clock")
    with _put_back_afterwards(own_server), open_rekeyed(tmp_path, url, encryption) as home:
        for request in (PurgeRequest.memories(gone), PurgeRequest.sessions(chat.id)):
            assert _purge(home, request)[1].state is PurgeState.DONE
        made = home.receipts.list()
    (rows,) = own_server.run("SELECT count(*) FROM recollectum.memories")
    assert rows == (3,)
    with _open_older(tmp_path, url, encryption) as home:
        vault = home.vault(OWNER)
        assert [one.content for one in vault.memories.list()] == ["ada likes the harbour"]
        assert not vault.recall("flowerpot alarm code")
        again = [one for one in home.receipts.list() if one not in made]
        assert [(one.kind, one.state) for one in again] == [(PurgeKind.RESTORED, PurgeState.DONE)]
        assert len(home.receipts.list()) == len(made) + 1
        assert all(home.receipts.verify(one) for one in home.receipts.list())
    assert own_server.run("SELECT count(*) FROM recollectum.memories") == [(2,)]
    assert own_server.run("SELECT count(*) FROM recollectum.messages") == [(0,)]


@pytest.mark.feature("M9")
def test_a_person_who_was_erased_does_not_come_back_with_a_base_backup(own_server: OwnServer, tmp_path: Path) -> None:
    url, postgres = own_server.database.url(), own_server.database
    with open_rekeyed(tmp_path, url) as home:
        home.people.add(OWNER)
        _fill(home)
        before = _keys_left(home, tmp_path / "before")
    with _put_back_afterwards(own_server), open_rekeyed(tmp_path, url) as home:
        seen, receipt = _purge(home, PurgeRequest.user())
        assert receipt.state is PurgeState.DONE
        assert len(seen.unreadable) == 1
        left = _keys_left(home, tmp_path / "left")
    assert _SECRET in _readable(postgres, before)
    assert _SECRET not in _readable(postgres, left)
    with _open_older(tmp_path, url) as home:
        assert [str(one) for one in home.list_owners()] == [OTHER]
        assert [str(one.owner) for one in home.people.list()] == [OTHER]
    assert own_server.run("SELECT count(*) FROM recollectum.memories") == [(1,)]


def test_a_home_without_keys_has_none_to_destroy(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with open_rekeyed(tmp_path, postgres.url(), "off") as home:
        gone = _fill(home)
        with pytest.raises(KeyProblem, match="not encrypted, so it has no key to destroy"):
            _purge(home, PurgeRequest.memories(gone, shred=True))
        assert len(home.vault(OWNER).memories.list()) == 2


def test_the_ledger_of_another_database_is_refused(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with open_rekeyed(tmp_path, postgres.url(), "off") as home:
        _purge(home, PurgeRequest.memories(_fill(home)))
    with psycopg.connect(postgres.administrator_url) as administrator:
        administrator.execute("UPDATE recollectum_catalog.erasure_secrets SET value = '\\x0120'")
        administrator.execute("DELETE FROM recollectum_catalog.erased")
    with pytest.raises(StorageError, match=r"erasures\.db tells what was erased from another database"):
        open_rekeyed(tmp_path, postgres.url(), "off")
