"""The rows of a vault get another key: in one step, with every value of them, and beside programs that go on."""

import json
import os
import shutil
import threading
from pathlib import Path

import psycopg
import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Damaged, WrongKey
from recollectum.storage.postgres import database as postgres_database
from recollectum.storage.postgres.sealing import SealedValues
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.restore import restore_vaults
from recollectum.upkeep.rekey.master_key import rekey_master
from recollectum.upkeep.rekey.settling import settle_vault
from recollectum.upkeep.rekey.vault_keys import preview_vaults, rekey_vaults
from tests.crashes.programs import finish, start
from tests.plugins.postgres import PostgresDatabase, available, database_on
from tests.storage.postgres.rekeyed_homes import OWNER, digests, fill_every_column, open_rekeyed, stored_values
from tests.upkeep.homes import opening, said


def _key(home: Recollectum) -> tuple[str, bytes]:
    (entry,) = home.admin.entries()
    return entry.id, home.admin.keys.key(entry.id)


def test_every_value_is_encrypted_under_the_new_key_and_means_what_it_did(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    with open_rekeyed(tmp_path, postgres.url()) as home:
        vault = home.vault(OWNER)
        fill_every_column(vault, tmp_path / "notes")
        stored = stored_values(postgres)
        assert [column for column, values in stored.items() if not values] == []
        before, hits = digests(vault, tmp_path), [hit.text for hit in vault.recall("harbour ferry")]
        (_, old), pages = _key(home), list[int]()
        assert preview_vaults(home.admin).bytes > 4096
        rekey_vaults(home.admin, progress=pages.append)
        assert sum(pages)
        _, new = _key(home)
        assert new != old
        vault = home.vault(OWNER)
        assert digests(vault, tmp_path) == before
        assert [hit.text for hit in vault.recall("harbour ferry")] == hits
    now = stored_values(postgres)
    assert {column: len(values) for column, values in now.items()} == {
        column: len(values) for column, values in stored.items()
    }
    for values in now.values():
        for value in values:
            if len(value) > 1:
                SealedValues(new).unseal(value)
                with pytest.raises(Damaged):
                    SealedValues(old).unseal(value)


def test_other_programs_go_on_with_the_new_key(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with open_rekeyed(tmp_path, postgres.url()) as home, open_rekeyed(tmp_path, postgres.url()) as other:
        held = other.vault(OWNER)
        held.memories.save("the harbour is closed")
        assert held.recall("harbour")
        for number in range(3):
            rekey_vaults(home.admin)
            if number % 2:
                held.memories.save(f"written after change {number}")
            assert [hit.text for hit in held.recall("harbour")] == ["the harbour is closed"]
        home.vault(OWNER).memories.save("written here")
        assert said(held) == said(home.vault(OWNER))
        rekey_master(home.admin)
        held.memories.save("under a new master key")


def test_no_write_of_another_program_is_lost_or_refused(postgres: PostgresDatabase, tmp_path: Path) -> None:
    written: list[str] = []
    with open_rekeyed(tmp_path, postgres.url()) as home, open_rekeyed(tmp_path, postgres.url()) as other:
        home.vault(OWNER).memories.save("the first")

        def write() -> None:
            for number in range(30):
                written.append(other.vault(OWNER).memories.save(f"number {number} of the other").memory.content)

        writer = threading.Thread(target=write)
        writer.start()
        changes = 0
        while writer.is_alive() or not changes:
            rekey_vaults(home.admin)
            changes += 1
        writer.join()
        assert len(written) == 30
        assert said(home.vault(OWNER))[0] == sorted([*written, "the first"])
        assert home.vault(OWNER).admin.index.verify().sound


def test_a_home_with_the_keys_from_before_reads_and_writes_nothing(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with open_rekeyed(tmp_path, postgres.url()) as home:
        home.vault(OWNER).memories.save("the harbour is closed")
    shutil.copytree(tmp_path / "home", tmp_path / "copy" / "home")
    shutil.copytree(tmp_path / "config", tmp_path / "copy" / "config")
    with open_rekeyed(tmp_path / "copy", postgres.url()) as copy:
        held = copy.vault(OWNER)
        held.memories.save("the pier is open")
        with open_rekeyed(tmp_path, postgres.url()) as home:
            rekey_vaults(home.admin)
            before = stored_values(postgres)
            with pytest.raises(WrongKey, match=r"another key than keys\.db of this home has; .*copy keys\.db from"):
                held.memories.save("under a key that is gone")
            assert stored_values(postgres) == before
        shutil.copy(tmp_path / "home" / "keys.db", tmp_path / "copy" / "home" / "keys.db")
    with open_rekeyed(tmp_path / "copy", postgres.url()) as copy:
        assert said(copy.vault(OWNER))[0] == ["the harbour is closed", "the pier is open"]


def test_a_vault_with_a_damaged_value_keeps_its_key(postgres: PostgresDatabase, tmp_path: Path) -> None:
    with open_rekeyed(tmp_path, postgres.url()) as home:
        vault = home.vault(OWNER)
        fill_every_column(vault, tmp_path / "notes")
        vault_id, old = _key(home)
        with psycopg.connect(postgres.administrator_url) as administrator:
            administrator.execute("UPDATE recollectum.summaries SET text = set_byte(text, 20, get_byte(text, 20) # 1)")
        before = stored_values(postgres)
        with pytest.raises(Damaged, match="cannot be decrypted"):
            rekey_vaults(home.admin)
        assert _key(home) == (vault_id, old)
        assert stored_values(postgres) == before
        assert not home.admin.keys.has_unfinished()
        assert home.vault(OWNER).recall("harbour")


def test_a_commit_that_a_killed_program_has_sent_is_waited_for(
    postgres: PostgresDatabase, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_rekeyed(tmp_path, postgres.url()) as home:
        home.vault(OWNER).memories.save("the harbour is closed")
        admin, (vault_id, old) = home.admin, _key(home)
        new, commit = admin.keys.add_next_key(vault_id), postgres_database.commit
        rewritten, sent = threading.Event(), threading.Event()

        def slow(*given: object) -> None:
            # The first: the other program's own transactions go on.
            monkeypatch.setattr(postgres_database, "commit", commit)
            rewritten.set()
            sent.wait(60)
            commit(*given)  # pyright: ignore[reportArgumentType]

        monkeypatch.setattr(postgres_database, "commit", slow)
        rewriting = admin.engine.upkeep.rewriting
        killed = threading.Thread(target=lambda: rewriting.rewrite(vault_id, old, new, lambda _: None))
        killed.start()
        assert rewritten.wait(60)
        settling = threading.Thread(target=lambda: settle_vault(admin.engine, admin.keys, vault_id))
        settling.start()
        settling.join(0.3)
        # Whichever key it had chosen now, it could be the wrong one.
        assert settling.is_alive()
        sent.set()
        killed.join()
        settling.join()
        assert _key(home) == (vault_id, new)
        assert said(home.vault(OWNER))[0] == ["the harbour is closed"]


def test_a_backup_from_before_is_restored_into_the_vault_under_its_new_key(
    postgres: PostgresDatabase, tmp_path: Path
) -> None:
    with open_rekeyed(tmp_path, postgres.url()) as home:
        home.vault(OWNER).memories.save("the harbour is closed")
        folder = back_up(home.admin).path
        assert preview_vaults(home.admin).backups == (folder,)
        rekey_vaults(home.admin)
        home.vault(OWNER).memories.save("written after the change")
        restore_vaults(home.admin, folder, opening(tmp_path), replace=True)
        assert said(home.vault(OWNER))[0] == ["the harbour is closed"]


@pytest.mark.slow
@pytest.mark.process
@pytest.mark.parametrize(("what", "every"), [("keys", "48"), ("purge", "70")])
def test_a_change_that_is_killed_on_one_host_keeps_no_other_from_the_vault(
    tmp_path: Path, what: str, every: str
) -> None:
    every = os.environ.get("REKEY_KILL_EVERY", every)
    version = max(available())
    with database_on(version) as rows, database_on(version) as keys:
        line = (str(tmp_path), rows.url(), what, every, keys.url())
        (told,) = finish(start("tests.storage.postgres.rekeying_program", *line))
    found = json.loads(told)
    assert found["wrong"] == []
    assert found["kills"] > 2
    assert found["changes"] > 0


@pytest.mark.slow
@pytest.mark.parametrize(("what", "every"), [("keys", "15"), ("purge", "21")])
def test_a_change_that_is_killed_at_any_step_is_finished_or_undone(
    postgres: PostgresDatabase, tmp_path: Path, what: str, every: str
) -> None:
    every = os.environ.get("REKEY_KILL_EVERY", every)
    (told,) = finish(start("tests.storage.postgres.rekeying_program", str(tmp_path), postgres.url(), what, every))
    found = json.loads(told)
    assert found["wrong"] == []
    assert found["kills"] > 8
    # A change of keys is undone before its COMMIT and finished after it; a purge that has begun always goes on.
    assert 0 < found["changes"] < found["kills"] + (what == "purge")
