"""Notes that come by themselves: before a search, at a new session, and while somebody watches."""

import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from recollectum.domain.files.note import SyncReport
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.vault.note_folders import found, write


@pytest.fixture
def folder(tmp_path: Path, vault: Vault) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    vault.admin.notes.add_folder(made)
    return made


@pytest.mark.feature("G20")
def test_a_search_or_a_new_session_looks_first(place: Path, folder: Path, clock: Turning) -> None:
    write(folder / "a.md", "alpha")
    with open_home(place, clock, settings={"notes.debounce_seconds": 0}) as home:
        vault = home.vault("user:alice")
        assert vault.recall("alpha")
        write(folder / "b.md", "beta")
        vault.sessions.open(channel="new")
        assert len(vault.admin.notes.list()) == 2
        (folder / "a.md").unlink()
        assert vault.recall("alpha") == []
    with open_home(place, clock, settings={"notes.debounce_seconds": 3600}) as home:
        vault = home.vault("user:alice")
        assert vault.recall("beta")
        write(folder / "c.md", "gamma")
        assert vault.recall("gamma") == []


@pytest.mark.feature("C16")
def test_vaults_share_a_crawl_and_lose_nothing_by_it(place: Path, tmp_path: Path, clock: Turning) -> None:
    write(tmp_path / "notes" / "a.md", "alpha")
    with open_home(place, clock, settings={"notes.debounce_seconds": 3600}) as home:
        names = ("alice", "bob", "carol")
        alice, bob, carol = (home.vault(f"user:{name}") for name in names)
        for vault in (alice, bob, carol):
            vault.admin.notes.add_folder(tmp_path / "notes")
        assert alice.recall("alpha")
        write(tmp_path / "notes" / "b.md", "beta")
        assert bob.recall("beta") == []
        assert bob.recall("alpha")
        carol.admin.notes.sync()
        assert carol.recall("beta")
        (tmp_path / "notes" / "a.md").unlink()
        assert home.vault("user:alice").admin.notes.sync().removed == 1


def test_a_note_that_went_while_somebody_looked_is_gone(place: Path, tmp_path: Path, clock: Turning) -> None:
    path = write(tmp_path / "notes" / "a.md", "alpha", at=int(clock().timestamp()))
    with open_home(place, clock, settings={"notes.debounce_seconds": 3600}) as home:
        alice, bob = home.vault("user:alice"), home.vault("user:bob")
        for vault in (alice, bob):
            vault.admin.notes.add_folder(tmp_path / "notes")
        bob.admin.notes.sync()
        assert alice.recall("alpha")
        path.unlink()
        assert bob.recall("alpha") == []


@pytest.mark.feature("G22")
def test_a_watcher_follows_changes(place: Path, folder: Path, clock: Turning) -> None:
    with open_home(place, clock, settings={"notes.debounce_seconds": 0.02, "notes.on_search": "off"}) as home:
        vault = home.vault("user:alice")
        stop, synced = threading.Event(), threading.Semaphore(0)

        def tell(_: SyncReport) -> None:
            synced.release()

        watcher = threading.Thread(target=vault.admin.notes.watch, args=(stop, tell))
        watcher.start()
        try:
            assert synced.acquire(timeout=30)
            write(folder / "a.md", "alpha")
            assert synced.acquire(timeout=30)
            assert found(vault, "alpha")
        finally:
            stop.set()
            watcher.join()


class Polls(threading.Event):
    """A stop that lets a watcher look so often without waiting, and does something before the first look."""

    def __init__(self, count: int, first: Callable[[], object]) -> None:
        super().__init__()
        self._left = count
        self._first = first

    def wait(self, timeout: float | None = None) -> bool:
        self._first()
        self._first = int
        self._left -= 1
        return self._left < 0


@pytest.mark.feature("G20")
@pytest.mark.parametrize(("watch", "syncs"), [("on", 2), ("off", 1)])
def test_changes_are_followed_only_when_they_are_watched(
    place: Path, folder: Path, clock: Turning, watch: str, syncs: int
) -> None:
    with open_home(place, clock, settings={"notes.debounce_seconds": 0, "notes.watch": watch}) as home:
        told: list[SyncReport] = []
        home.vault("user:alice").admin.notes.watch(Polls(5, lambda: write(folder / "a.md", "alpha")), told.append)
    assert len(told) == syncs


@pytest.mark.feature("G20")
@pytest.mark.parametrize("event", ["on_search", "on_session_start"])
def test_nobody_looks_when_it_is_turned_off(place: Path, folder: Path, clock: Turning, event: str) -> None:
    write(folder / "a.md", "alpha")
    for value, notes in (("off", 0), ("on", 1)):
        with open_home(place, clock, settings={f"notes.{event}": value}) as home:
            vault = home.vault("user:alice")
            if event == "on_search":
                vault.recall("alpha")
            else:
                vault.sessions.open(channel=value)
            assert len(vault.admin.notes.list()) == notes
