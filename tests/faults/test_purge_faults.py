"""Purges when others read, when an older copy is put back, with vectors, and where everything is encrypted."""

import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Damaged
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.purge.request import PurgeKind, PurgeRequest, PurgeState
from recollectum.vault.vault import Vault
from tests.crashes.homes import vault_files
from tests.crashes.programs import run

pytestmark = [pytest.mark.process, pytest.mark.slow]

_SECRET = "wqzkvbtrnx"
_KEPT = "mnbvcxzqwr"
_PLAIN = {"encryption": "off", "storage.busy_timeout_seconds": 0.3}


def _hits(root: Path, *words: str) -> set[str]:
    return {line.partition(" ")[0] for line in run("tests.faults.grepping_program", str(root), *words)}


def _talk(vault: Vault, channel: str, word: str) -> str:
    chat = vault.sessions.open(channel=channel, agent=channel)
    for number in range(5):
        chat.add("user", f"turn {number} says {word}{number} to {channel}")
    return chat.id


def _holding(path: Path, purge: Callable[[], None]) -> None:
    """Run a purge while somebody reads from before it."""
    holding, let_go = threading.Event(), threading.Event()
    other = SqliteDatabase(path, SqliteOptions())

    def hold(tx: Tx) -> None:
        tx.rows("SELECT count(*) FROM messages", {})
        holding.set()
        assert let_go.wait(60)

    reader = threading.Thread(target=lambda: other.read(hold))
    reader.start()
    assert holding.wait(60)
    try:
        purge()
    finally:
        let_go.set()
        reader.join()
        other.close()


@pytest.mark.feature("P9")
def test_while_somebody_reads_from_before_a_purge_is_pending(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault("user:ann")
        _talk(vault, "work", _KEPT)
        gone = _talk(vault, "home", _SECRET)
        (path,) = vault_files(home.home.root)

        def purge() -> None:
            receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(gone)).token)
            assert (receipt.state, receipt.files_scanned) == (PurgeState.PENDING, 0)
            assert receipt.reason is not None
            assert [one.state for one in vault.privacy.purge.finish()] == [PurgeState.PENDING]
            assert _hits(tmp_path, _SECRET) == {_SECRET}

        _holding(path, purge)
        (done,) = vault.privacy.purge.finish()
        assert (done.state, done.hits, done.reason) == (PurgeState.DONE, 0, None)
        assert done.samples > 0
        assert home.receipts.list() == [done]
        assert home.receipts.verify(done)
        assert vault.privacy.purge.finish() == []
        assert _hits(tmp_path, _SECRET, _KEPT) == {_KEPT}


@pytest.mark.feature("P9")
def test_while_somebody_has_the_vault_open_a_person_is_not_said_to_be_gone(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault("user:ann")
        _talk(vault, "home", _SECRET)
        (path,) = vault_files(home.home.root)

        def purge() -> None:
            receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.user()).token)
            assert receipt.state is PurgeState.PENDING
            assert (home.list_owners(), home.people.list()) == ([], [])

        _holding(path, purge)
        (done,) = home.receipts.finish()
        assert (done.state, done.hits) == (PurgeState.DONE, 0)
        assert _hits(tmp_path, _SECRET, "user:ann") == set()


@pytest.mark.feature("P9")
@pytest.mark.parametrize("kind", [PurgeKind.SESSION, PurgeKind.MEMORY])
def test_a_copy_that_is_put_back_does_not_bring_the_erased_back(tmp_path: Path, kind: PurgeKind) -> None:
    root = tmp_path / "home"
    with Recollectum(root, settings=_PLAIN) as home:
        vault = home.vault("user:ann")
        _talk(vault, "work", _KEPT)
        gone = _talk(vault, "home", _SECRET)
        memory = vault.memories.save(f"once {_SECRET}").id
    (path,) = vault_files(root)
    copy = tmp_path / "copy.db"
    shutil.copy(path, copy)
    with Recollectum(root, settings=_PLAIN) as home:
        purge = home.vault("user:ann").privacy.purge
        if kind is PurgeKind.MEMORY:
            purge.run(purge.preview(PurgeRequest.memories(memory)).token)
        purge.run(purge.preview(PurgeRequest.sessions(gone)).token)
    expected = {_KEPT} if kind is PurgeKind.MEMORY else {_KEPT, _SECRET}
    assert _hits(root, _SECRET, _KEPT) == expected
    shutil.copy(copy, path)
    assert _hits(root, _SECRET, _KEPT) == {_SECRET, _KEPT}
    with Recollectum(root, settings=_PLAIN) as home:
        vault = home.vault("user:ann")
        with pytest.raises(Damaged, match="older than last seen"):
            vault.admin.totals()
        assert vault.admin.totals().messages == 5
        assert [one.kind for one in vault.privacy.purge.list_receipts()][-1] is PurgeKind.RESTORED
        assert vault.privacy.purge.list_receipts()[-1].state is PurgeState.DONE
        assert vault.admin.index.verify().sound
        assert _hits(root, _SECRET, _KEPT) == expected
    with Recollectum(root, settings=_PLAIN) as home:
        before = len(home.receipts.list())
        home.vault("user:ann").admin.totals()
        assert len(home.receipts.list()) == before


@pytest.mark.feature("M9")
def test_the_vault_of_a_person_who_was_erased_is_removed_when_it_is_put_back(tmp_path: Path) -> None:
    root = tmp_path / "home"
    with Recollectum(root, settings=_PLAIN) as home:
        _talk(home.vault("user:ann"), "home", _SECRET)
    (path,) = vault_files(root)
    shutil.copy(path, tmp_path / "copy.db")
    with Recollectum(root, settings=_PLAIN) as home:
        purge = home.vault("user:ann").privacy.purge
        assert purge.run(purge.preview(PurgeRequest.user()).token).state is PurgeState.DONE
    assert vault_files(root) == []
    shutil.copy(tmp_path / "copy.db", path)
    with Recollectum(root, settings=_PLAIN) as home:
        assert home.list_owners() == []
    assert _hits(root, _SECRET) == set()


@pytest.mark.feature("P9")
def test_the_copies_made_before_migrations_go_too(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN) as home:
        vault = home.vault("user:ann")
        gone = _talk(vault, "home", _SECRET)
        (path,) = vault_files(home.home.root)
        copy = home.home.backups / f"{path.stem}-before-0010-20260101T000000.db"
        copy.write_bytes(f"an old copy with {_SECRET}".encode())
        whole = home.home.backups / "recollectum-20260101T000000" / "vaults" / path.name
        whole.parent.mkdir(parents=True)
        whole.write_bytes(f"another with {_SECRET}".encode())
        others = home.home.backups / "vlt_other-before-0010-20260101T000000.db"
        others.write_bytes(b"of somebody else")
        seen = vault.privacy.purge.preview(PurgeRequest.sessions(gone))
        assert set(seen.backups) == {copy.name, f"recollectum-20260101T000000/vaults/{path.name}"}
        receipt = vault.privacy.purge.run(seen.token)
        assert (receipt.state, receipt.backups_destroyed) == (PurgeState.DONE, 2)
        assert (copy.exists(), whole.exists(), others.exists()) == (False, False, True)


@pytest.mark.feature("P9")
def test_the_bytes_of_vectors_go_too(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings=_PLAIN, embedder=ScriptedEmbedder()) as home:
        vault = home.vault("user:ann")
        _talk(vault, "work", _KEPT)
        gone = _talk(vault, "home", _SECRET)
        vault.admin.index.update()
        vault.recall(_SECRET)
        (path,) = vault_files(home.home.root)
        other = SqliteDatabase(path, SqliteOptions())
        before = {row[0] for row in other.read(lambda tx: tx.rows("SELECT data FROM vectors", {}))}
        assert len(before) >= 10
        receipt = vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.sessions(gone)).token)
        assert receipt.state is PurgeState.DONE, receipt
        after = {row[0] for row in other.read(lambda tx: tx.rows("SELECT data FROM vectors", {}))}
        cached = {row[0] for row in other.read(lambda tx: tx.rows("SELECT data FROM embedding_cache", {}))}
        other.close()
        erased = before - after
        assert erased
        assert not erased & cached
        assert list(vault.recall(_KEPT))
    # Not before: whoever opens a live database file drops the locks on it.
    assert not [one for one in erased if one in path.read_bytes()]


@pytest.mark.feature("P9")
def test_the_key_goes_with_the_person(tmp_path: Path) -> None:
    key_file = str(tmp_path / "key")
    with Recollectum(tmp_path / "home", settings={"key_file": key_file}) as home:
        vault = home.vault("user:ann")
        _talk(vault, "home", _SECRET)
        (path,) = vault_files(home.home.root)
        assert home.encryption().has_key(path.stem)
        copy = path.read_bytes()
        assert vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.user()).token).state is PurgeState.DONE
        assert not home.encryption().has_key(path.stem)
        assert not path.exists()
        assert _SECRET.encode() not in copy
