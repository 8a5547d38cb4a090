"""All vaults of a home move between files and a database; a kill at any step loses nothing."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Busy, Conflict, LockHeld, StorageError
from recollectum.domain.ids import system_clock
from recollectum.home.move_mark import move_lock
from recollectum.home.paths import Home
from recollectum.settings.load import load
from recollectum.upkeep.move import Move, MoveResult, move_home
from recollectum.upkeep.rekey.vault_keys import rekey_vaults
from tests.matrix.homes import quick_folder
from tests.plugins.postgres import PostgresDatabase
from tests.upkeep.homes import ANN, BEN, fill, said

pytestmark = pytest.mark.process
_SETTINGS = '[embedding]\nprovider = "none"\n[storage]\nreserve_mib = 0\n'
QUESTIONS = ("things to keep", "tea with milk", "conversation message 3")


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _environ(place: Path) -> dict[str, str]:
    names = {"HOME": "user", "XDG_CONFIG_HOME": "config", "RECOLLECTUM_SYSTEM_DIR": "system"}
    return {name: str(place / folder) for name, folder in names.items()}


def _opened(place: Path) -> Recollectum:
    return Recollectum(place / "home", environ=_environ(place))


def _made(place: Path, url: str) -> dict[str, object]:
    """A home with two vaults on one engine; what it says."""
    (place / "home").mkdir(mode=0o700)
    line = f'url = "{url}"\n' if url else ""
    (place / "home" / "settings.toml").write_text(_SETTINGS + line)
    with _opened(place) as home:
        for owner in (ANN, BEN):
            fill(home.vault(owner), 20)
    return _says(place)


def _says(place: Path) -> dict[str, object]:
    with _opened(place) as home:
        return {
            owner: (
                said(home.vault(owner)),
                [[(hit.text, hit.score) for hit in home.vault(owner).recall(one)] for one in QUESTIONS],
                home.vault(owner).admin.events.list(limit=200),
            )
            for owner in (ANN, BEN)
        }


def _move(place: Path, url: str, *, dry_run: bool = False) -> MoveResult:
    home, environ = Home(place / "home"), _environ(place)
    settings = load(home, cwd=place, environ=environ).settings
    move = Move(home=home, settings=settings, url_setting=url, url=url, environ=environ, clock=system_clock)
    return move_home(move, dry_run=dry_run)


def _killed(place: Path, url: str, stop: str) -> None:
    """Move in a process of its own, and kill it at a file."""
    command = [sys.executable, "-m", "tests.upkeep.moving_program", str(place / "home"), url, stop]
    pipe, environ = subprocess.PIPE, {**_environ(place), "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, env=environ, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == f"at {stop}\n"
        running.kill()


def test_a_home_moves_to_a_database_and_back(postgres: PostgresDatabase, place: Path) -> None:
    before = _made(place, "")
    assert _move(place, postgres.url(), dry_run=True) == MoveResult(vaults=2, copied=2)
    assert _says(place) == before
    moved = _move(place, postgres.url())
    assert (moved.vaults, moved.copied) == (2, 2)
    assert not list((place / "home" / "vaults").glob("*.db"))
    assert _says(place) == before
    with _opened(place) as home:
        home.vault(ANN).memories.save("written in the database")
    changed = _says(place)
    back = _move(place, "")
    assert (back.vaults, back.copied) == (2, 2)
    assert _says(place) == changed
    # What is still in the database and equal is not copied again.
    again = _move(place, postgres.url())
    assert (again.vaults, again.copied) == (2, 0)
    assert _says(place) == changed


def test_a_vault_with_a_new_key_replaces_the_rows_that_are_still_in_the_database(
    postgres: PostgresDatabase, place: Path
) -> None:
    before = _made(place, postgres.url())
    _move(place, "")
    with _opened(place) as home:
        rekey_vaults(home.admin, [Owner.parse(ANN)])
    again = _move(place, postgres.url())
    assert (again.vaults, again.copied) == (2, 1)
    assert _says(place) == before
    with _opened(place) as home:
        rekey_vaults(home.admin)
    assert _says(place) == before


@pytest.mark.parametrize("stop", ["second vault", "*/move.mark", "*/settings.toml", "*/aside-*/vlt_*.db"])
def test_a_move_to_a_database_that_is_killed_loses_nothing(postgres: PostgresDatabase, place: Path, stop: str) -> None:
    before = _made(place, "")
    second = sorted((place / "home" / "vaults").glob("*.db"))[1]
    _killed(place, postgres.url(), f"*/.moving/vaults/{second.name}" if stop == "second vault" else stop)
    if stop.startswith(("*/settings", "*/aside")):
        with pytest.raises(StorageError, match="finish with: recollectum move"):
            _opened(place)
    else:
        assert _says(place) == before
        with _opened(place) as home:
            home.vault(BEN).memories.save("written after the kill")
        before = _says(place)
    _move(place, postgres.url())
    assert _says(place) == before
    assert not list((place / "home" / "vaults").glob("*.db"))


@pytest.mark.parametrize("stop", ["*/move.mark", "*/home/catalog.db", "*/settings.toml"])
def test_a_move_to_files_that_is_killed_loses_nothing(postgres: PostgresDatabase, place: Path, stop: str) -> None:
    before = _made(place, postgres.url())
    _killed(place, "", stop)
    if stop == "*/move.mark":
        assert _says(place) == before
    else:
        with pytest.raises(StorageError, match="finish with: recollectum move"):
            _opened(place)
    _move(place, "")
    assert _says(place) == before
    assert len(list((place / "home" / "vaults").glob("*.db"))) == 2


def test_a_home_in_use_is_not_moved_and_one_that_is_moved_is_not_used(postgres: PostgresDatabase, place: Path) -> None:
    before = _made(place, "")
    with _opened(place), pytest.raises(Busy, match="stop all of them"):
        _move(place, postgres.url())
    with move_lock(Home(place / "home")), pytest.raises(LockHeld, match="are being moved"):
        _opened(place)
    with pytest.raises(Conflict, match="are files already"):
        _move(place, "")
    assert _says(place) == before


def test_a_database_in_use_is_not_left(postgres: PostgresDatabase, place: Path) -> None:
    before = _made(place, postgres.url())
    with _opened(place), pytest.raises(Busy, match="stop all of them"):
        _move(place, "")
    assert _says(place) == before


def test_a_database_with_the_vaults_of_others_is_refused(postgres: PostgresDatabase, place: Path) -> None:
    (place / "other").mkdir()
    other = _made(place / "other", postgres.url())
    before = _made(place, "")
    with pytest.raises(Conflict, match="name an empty database"):
        _move(place, postgres.url())
    assert _says(place) == before
    assert _says(place / "other") == other
