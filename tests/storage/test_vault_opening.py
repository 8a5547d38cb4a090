"""A vault is opened with the key that it has, also when another process changes that key at the same moment."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import apsw
import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import WrongKey
from recollectum.storage.engine import Engine
from recollectum.storage.port import Database
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.vault_opening import SettledKey, open_vault
from recollectum.upkeep.home_admin import HomeAdmin
from recollectum.upkeep.rekey.settling import settled_key
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, filled


@pytest.fixture
def home() -> Iterator[Recollectum]:
    with quick_folder() as folder:
        filled(folder, owners=(ANN,)).close()
        with open_home(folder, Turning(), encryption="auto") as opened:
            yield opened


class _Overtaken:
    """The engine of a home in which another process begins to change the key as soon as the vault is open."""

    def __init__(self, admin: HomeAdmin) -> None:
        self._admin = admin
        self.opened: list[Database] = []

    def open_vault(self, vault_id: str, owner: Owner, key: bytes | None, renew: Callable[[], bytes]) -> Database:
        database = self._admin.engine.open_vault(vault_id, owner, key, renew)
        if not self.opened:
            self._admin.keys.add_next_key(vault_id)
        self.opened.append(database)
        return database


def test_a_change_that_begins_while_the_vault_is_opened_is_noticed(home: Recollectum) -> None:
    admin = home.admin
    (entry,) = admin.entries()
    engine, settled = _Overtaken(admin), list[str]()

    def settle(vault_id: str) -> SettledKey:
        # The other process sees whether the vault is open, so it must be closed by now.
        settled.append(vault_id)
        assert admin.engine.is_unused(vault_id, admin.keys.key(vault_id))
        return settled_key(admin.engine, admin.keys, vault_id)

    database = open_vault(as_engine(engine), admin.keys, entry, settle)
    try:
        assert settled == [entry.id]
        assert len(engine.opened) == 2
        assert database is engine.opened[-1]
    finally:
        database.close()


def test_a_key_that_was_changed_before_the_file_is_opened_is_asked_for_again(home: Recollectum) -> None:
    admin = home.admin
    (entry,) = admin.entries()
    old = admin.keys.key(entry.id)

    class Slow:
        def open_vault(self, vault_id: str, owner: Owner, key: bytes | None, renew: Callable[[], bytes]) -> Database:
            if key == old == admin.keys.key(vault_id):
                rekey_vaults(admin)
            return admin.engine.open_vault(vault_id, owner, key, renew)

    open_vault(as_engine(Slow()), admin.keys, entry, _never).close()
    assert admin.keys.key(entry.id) != old


def test_a_file_that_its_key_does_not_open_is_refused_and_not_tried_for_ever(home: Recollectum) -> None:
    admin = home.admin
    (entry,) = admin.entries()
    admin.keys.destroy_key(entry.id)
    admin.keys.make_key(entry.id)
    with pytest.raises(WrongKey):
        open_vault(admin.engine, admin.keys, entry, _never)


def _never(vault_id: str) -> SettledKey:
    raise AssertionError(f"{vault_id} is not being changed")


def as_engine(part: "_Overtaken | object") -> Engine:
    """Opening a vault needs one method of it only."""
    return part  # pyright: ignore[reportReturnType]


def test_a_vault_that_another_process_holds_without_its_log_is_waited_for(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as r:
        r.vault("user:ann").memories.save("the harbour is closed")
        (path,) = HomeFiles(r.home).vaults()
    holder = apsw.Connection(str(path))
    # The reader below tries again and again, and may hold the file for a moment when this one ends.
    holder.set_busy_timeout(60_000)
    assert holder.pragma("journal_mode", "delete") == "delete"
    holder.execute("BEGIN IMMEDIATE")
    found: list[str] = []

    def read() -> None:
        with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as r:
            found.extend(one.content for one in r.vault("user:ann").memories.list())

    waiting = threading.Thread(target=read)
    waiting.start()
    # It cannot open the vault before the holder ends its transaction.
    waiting.join(0.5)
    assert found == []
    holder.execute("COMMIT")
    waiting.join(60)
    holder.close()
    assert found == ["the harbour is closed"]
