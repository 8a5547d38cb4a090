"""A purge that also gives the vault a new key: the old one is nowhere any more, and nothing else changes."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import KeyProblem, StorageError
from recollectum.doors.cli.main import main
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.rekey import vault_keys
from recollectum.vault.purge.request import PurgeRequest, PurgeState, Receipt
from recollectum.vault.purge.signatures import from_json
from tests.matrix.homes import Turning, open_home
from tests.plugins.engines import SQLITE

pytestmark = pytest.mark.process

OWNER = "user:ann"
_SECRET = "wqzkvbtrnx"


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with open_home(tmp_path, Turning(), encryption="auto") as opened:
        yield opened


def _secret(home: Recollectum) -> str:
    home.vault(OWNER).memories.save("the harbour is closed")
    return home.vault(OWNER).memories.save(f"it is {_SECRET} and private").memory.id


def _key(home: Recollectum) -> bytes:
    return home.admin.keys.key(home.admin.entries()[0].id)


def _purge(home: Recollectum, memory_id: str) -> Receipt:
    purge = home.vault(OWNER).privacy.purge
    return purge.run(purge.preview(PurgeRequest.memories(memory_id, shred=True)).token)


def test_the_vault_has_a_new_key_and_the_old_one_is_nowhere(home: Recollectum, tmp_path: Path) -> None:
    gone, old = _secret(home), _key(home)
    for name in ("one", "two.tar"):
        back_up(home.admin, to=home.home.backups / name)
    receipt = _purge(home, gone)
    assert (receipt.state, receipt.shredded, receipt.backups_destroyed) == (PurgeState.DONE, True, 2)
    assert _key(home) != old
    assert [one.content for one in home.vault(OWNER).memories.list()] == ["the harbour is closed"]
    assert home.vault(OWNER).recall("harbour")
    kept = b"".join(path.read_bytes() for path in sorted(tmp_path.rglob("*")) if path.is_file())
    vault_id = home.admin.entries()[0].id.encode()
    # The vault is in no copy of the keys: only in the key store, the catalog and names of files.
    assert old not in kept
    for copy in home.home.backups.rglob("keys.db"):
        assert vault_id not in copy.read_bytes()


def test_the_receipt_is_signed_with_what_it_says_of_the_key(home: Recollectum) -> None:
    receipt = _purge(home, _secret(home))
    assert home.receipts.verify(receipt)
    assert not home.receipts.verify(replace(receipt, shredded=False))
    assert not home.receipts.verify(replace(receipt, form=2))
    later = home.vault(OWNER).memories.save("another private thing").memory.id
    purge = home.vault(OWNER).privacy.purge
    plain = purge.run(purge.preview(PurgeRequest.memories(later)).token)
    assert (plain.shredded, plain.form) == (False, 2)
    assert not home.receipts.verify(replace(plain, shredded=True))
    # As a release before wrote it.
    told = {name: getattr(plain, name) for name in plain.__slots__ if name != "shredded"}
    assert home.receipts.verify(from_json(told))


def test_a_purge_that_was_interrupted_before_the_new_key_gets_it_later(
    home: Recollectum, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone, old = _secret(home), _key(home)

    def fails(*_: object) -> None:
        raise StorageError("the disk is gone")

    with monkeypatch.context() as patch:
        patch.setattr(vault_keys, "rekey_vaults", fails)
        with pytest.raises(StorageError, match="the disk is gone"):
            _purge(home, gone)
    assert _key(home) == old
    home.close()
    with open_home(tmp_path, Turning(), encryption="auto") as again:
        again.vault(OWNER).privacy.purge.finish()
        (receipt,) = again.receipts.list()
        assert (receipt.state, receipt.shredded) == (PurgeState.DONE, True)
        new = _key(again)
        assert new != old
        assert again.vault(OWNER).privacy.purge.finish() == []
        assert _key(again) == new


def test_a_file_that_others_have_open_gets_its_key_when_they_are_gone(
    home: Recollectum, tmp_path: Path, engine: str
) -> None:
    gone, old = _secret(home), _key(home)
    with open_home(tmp_path, Turning(), encryption="auto") as other:
        other.vault(OWNER).memories.list()
        receipt = _purge(home, gone)
        # A server is not asked who has a vault open: the others go on with the new key.
        is_held = engine == SQLITE
        assert (receipt.state is PurgeState.PENDING) is is_held
        assert receipt.shredded is not is_held
        assert (_key(home) == old) is is_held
        assert [one.content for one in other.vault(OWNER).memories.list()] == ["the harbour is closed"]
    if is_held:
        assert "so it keeps its key" in (receipt.reason or "")
        assert (receipt.reason or "").endswith("then try again: recollectum purge finish")
        (receipt,) = home.vault(OWNER).privacy.purge.finish()
        assert (receipt.state, receipt.shredded) == (PurgeState.DONE, True)
        assert _key(home) != old


def test_a_vault_without_a_key_is_refused_before_anything_is_erased(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning(), encryption="off") as home:
        gone = _secret(home)
        with pytest.raises(KeyProblem, match="not encrypted, so it has no key to destroy; purge without shredding"):
            _purge(home, gone)
        assert home.vault(OWNER).memories.get(gone).id == gone


def test_a_token_for_a_purge_without_a_new_key_gives_none(home: Recollectum) -> None:
    gone, old = _secret(home), _key(home)
    plain, shredding = PurgeRequest.memories(gone), PurgeRequest.memories(gone, shred=True)
    assert "shred" not in plain.to_json()
    assert plain.digest() != shredding.digest()
    assert PurgeRequest.from_json(shredding.to_json()) == shredding
    purge = home.vault(OWNER).privacy.purge
    assert purge.preview(plain).unreadable == ()
    assert purge.run(purge.preview(plain).token).shredded is False
    assert _key(home) == old


def test_the_command_says_what_becomes_of_older_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("RECOLLECTUM_USER", "ann")
    monkeypatch.setenv("RECOLLECTUM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "none")
    with Recollectum(tmp_path / "home") as home:
        gone = _secret(home)
    assert main(["purge", "memory", gone, "--shred", "--dry-run"]) == 0
    shown = capsys.readouterr().out
    assert "the vault gets a new key, and the old key is destroyed\n" in shown
    assert "nobody can read these any more afterwards, also not to restore them:\n" in shown
    assert main(["purge", "memory", gone, "--shred", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["receipt"]["shredded"] is True
    assert main(["purge", "receipts", "verify"]) == 0
    (receipt,) = capsys.readouterr().out.split()[:1]
    assert main(["purge", "receipts", "show", receipt.rstrip(":")]) == 0
    assert "old key destroyed" in capsys.readouterr().out
