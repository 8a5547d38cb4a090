"""The keys of a home move into a keys database and back: nothing is lost, whenever the move is interrupted."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from recollectum.domain.errors import Busy, Conflict, KeyProblem, SettingsError, StorageError
from recollectum.domain.ids import system_clock
from recollectum.home.database_mark import KeysTarget
from recollectum.home.paths import Home
from recollectum.settings.model import Settings
from recollectum.storage.shared import key_moves
from recollectum.upkeep.move import Move, move_home
from recollectum.upkeep.rekey.key_places import KeysMove
from recollectum.vault.purge.request import PurgeRequest
from tests.doors.cli.calls import ok
from tests.storage.shared.two_hosts import TwoHosts, hosts
from tests.upkeep.homes import said

__all__ = ["hosts"]
pytestmark = pytest.mark.process
ANN = "user:ann"
#: Each function of a move after which it may be killed.
_STEPS = {
    KeysTarget.DATABASE: ("load_keys", "mark_keys", "_shred"),
    KeysTarget.HOME: ("write_keys_file", "sync_folder", "forget_keys"),
}


def _move(hosts: TwoHosts) -> KeysMove:
    settings = Settings(key_file=str(hosts.key_file), storage=hosts.storage())
    return KeysMove(home=Home(hosts.home("one")), settings=settings, environ=hosts.environ("one"))


def _fill(hosts: TwoHosts) -> bytes:
    """A home with keys in a file, and something erased; returns the key of its vault."""
    with hosts.open("one", storage__keys_url="") as one:
        vault = one.vault(ANN)
        vault.memories.save("the harbour is closed")
        gone = vault.memories.save("to be erased").memory.id
        vault.privacy.purge.run(vault.privacy.purge.preview(PurgeRequest.memories(gone)).token)
        return one.admin.keys.key(one.admin.entries()[0].id)


def _check(hosts: TwoHosts, key: bytes, *, in_file: bool) -> None:
    home = hosts.home("one")
    assert ((home / "keys.db").exists(), (home / "erasures.db").exists()) == (in_file, in_file)
    assert (home / "keys.mark").exists() is not in_file
    with hosts.open("one", **({"storage__keys_url": ""} if in_file else {})) as one:
        assert one.admin.keys.key(one.admin.entries()[0].id) == key
        assert said(one.vault(ANN))[0] == ["the harbour is closed"]


def test_keys_move_there_and_back(hosts: TwoHosts) -> None:
    key = _fill(hosts)
    with pytest.raises(SettingsError, match=r"are in keys\.db, but storage\.keys_url is set; move them with"):
        hosts.open("one")
    moved = _move(hosts).run(KeysTarget.DATABASE)
    assert moved.keys >= 2
    assert moved.place.startswith("the keys database postgresql://")
    _check(hosts, key, in_file=False)
    with hosts.open("two") as two:
        assert said(two.vault(ANN))[0] == ["the harbour is closed"]
    with pytest.raises(KeyProblem, match="to move; see where the keys are"):
        _move(hosts).run(KeysTarget.DATABASE)
    assert _move(hosts).run(KeysTarget.HOME).place.endswith("keys.db")
    _check(hosts, key, in_file=True)
    with pytest.raises(KeyProblem, match="has no keys; there is nothing to move"):
        _move(hosts).run(KeysTarget.HOME)


def test_a_move_that_is_interrupted_is_finished_by_the_next(hosts: TwoHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    key = _fill(hosts)

    def dying(act: Callable[..., object]) -> Callable[..., object]:
        def run(*given: object, **named: object) -> object:
            act(*given, **named)
            raise InterruptedError("killed here")

        return run

    for target, steps in _STEPS.items():
        for step in steps:
            with monkeypatch.context() as patch:
                patch.setattr(key_moves, step, dying(getattr(key_moves, step)))
                with pytest.raises((InterruptedError, KeyProblem)):
                    _move(hosts).run(target)
        if (hosts.home("one") / "keys.db").exists() or target is KeysTarget.HOME:
            with pytest.raises((SettingsError, KeyProblem)):
                hosts.open("one")
        if target is KeysTarget.HOME:
            with pytest.raises(KeyProblem, match="nothing to move"):
                _move(hosts).run(target)
        _check(hosts, key, in_file=target is KeysTarget.HOME)


def test_keys_that_are_in_use_or_others_do_not_move(hosts: TwoHosts, tmp_path: Path) -> None:
    _fill(hosts)
    with hosts.open("one", storage__keys_url=""), pytest.raises(Busy, match=r"another program has .*keys\.db open"):
        _move(hosts).run(KeysTarget.DATABASE)
    shutil.copy(hosts.home("one") / "keys.db", tmp_path / "earlier.db")
    _move(hosts).run(KeysTarget.DATABASE)
    with hosts.open("one") as one:
        one.vault("user:ben").memories.save("made later")
    # A host with a copy of keys.db from before: what it lacks must not be lost, and it must not bring anything back.
    shutil.copy(tmp_path / "earlier.db", hosts.home("one") / "keys.db")
    with pytest.raises(Conflict, match="has other keys than those that are moved into it"):
        _move(hosts).run(KeysTarget.DATABASE)
    (hosts.home("one") / "keys.db").unlink()
    with hosts.open("one") as one:
        assert said(one.vault("user:ben"))[0] == ["made later"]


def test_vaults_do_not_move_to_files_while_their_keys_are_in_a_database(hosts: TwoHosts) -> None:
    with hosts.open("one") as one:
        one.vault(ANN).memories.save("the harbour is closed")
    settings = Settings(key_file=str(hosts.key_file), storage=hosts.storage())
    move = Move(home=Home(hosts.home("one")), settings=settings, url_setting="", url="", environ={}, clock=system_clock)
    with pytest.raises(StorageError, match="bring them home first, with: recollectum encryption move-keys home"):
        move_home(move)


def test_the_command_moves_and_tells(hosts: TwoHosts, monkeypatch: pytest.MonkeyPatch) -> None:
    _fill(hosts)
    for name, value in hosts.environ_with_settings("one").items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("RECOLLECTUM_KEY_FILE", str(hosts.key_file))
    home = ("--home", str(hosts.home("one")))
    assert list(ok("encryption", "move-keys", "database", "--json", *home).json) == ["keys", "place", "encryption"]
    status = ok("encryption", "status", *home).out
    assert "The keys that it wraps are in the keys database postgresql://" in " ".join(status.split())
    assert "Unset storage.keys_url now." in ok("encryption", "move-keys", "home", *home).out
