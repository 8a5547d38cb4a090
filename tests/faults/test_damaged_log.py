"""A damaged write-ahead log is noticed and kept, and the torn tail of a crash is not taken for one."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from bench.damaged_log import cut, flip, results, tear
from recollectum import Recollectum
from recollectum.domain.errors import Damaged
from recollectum.domain.ids import system_clock
from recollectum.home.paths import Home
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.files import HomeFiles, log_of
from recollectum.storage.sqlite.recovery.log_check import open_database
from recollectum.upkeep.doctor.home_checks import Severity, damaged_logs
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.process

_OWNER = "user:ann"


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _in_a_process_that_dies(work: Callable[[], object]) -> None:
    child = os.fork()
    if child == 0:
        try:
            work()
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    os.waitpid(child, 0)


def _write_and_die(place: Path, encryption: str = "off", saves: int = 3) -> HomeFiles:
    """A home whose last process was killed, with everything in the logs."""
    with open_home(place, Turning(), encryption=encryption) as home:
        home.vault(_OWNER)
        files = HomeFiles(home.home)

    def write() -> None:
        opened = open_home(place, Turning(), encryption=encryption)
        if encryption != "off":
            opened.vault("user:bob")
        for number in range(saves):
            opened.vault(_OWNER).memories.save(f"the harbour closes at {number}")

    _in_a_process_that_dies(write)
    return files


def _flip(log: Path, place: int) -> None:
    data = bytearray(log.read_bytes())
    data[place] ^= 0xFF
    log.write_bytes(data)


def _saved(home: Recollectum) -> int:
    return len(home.vault(_OWNER).memories.list())


@pytest.mark.parametrize("encryption", ["off", "auto"])
@pytest.mark.parametrize(("damage", "noticed"), [(flip, {"noticed"}), (cut, {"noticed"}), (tear, {"whole"})])
def test_damage_is_noticed_and_a_torn_tail_is_not_damage(
    encryption: str, damage: Callable[..., None], noticed: set[str]
) -> None:
    assert set(results(encryption, 4, damage)) == noticed


def test_it_refuses_once_says_where_the_log_is_and_the_doctor_reminds(place: Path) -> None:
    files = _write_and_die(place)
    (path,) = files.vaults()
    _flip(log_of(path), 5000)
    was = log_of(path).read_bytes()
    with open_home(place, Turning()) as home:
        with pytest.raises(Damaged, match="was damaged or cut") as refused:
            _saved(home)
        (copy,) = files.home.backups.glob("aside-*/*-wal")
        assert str(copy.parent) in str(refused.value)
        assert copy.read_bytes() == was
        assert _saved(home) < 3
        (found,) = damaged_logs(home.home)
    assert (found.severity, path.stem in found.words, str(copy.parent) in (found.cure or "")) == (
        Severity.PROBLEM,
        True,
        True,
    )


def test_without_the_index_of_the_log_a_frame_in_the_middle_is_still_noticed(place: Path) -> None:
    files = _write_and_die(place)
    (path,) = files.vaults()
    path.with_name(path.name + "-shm").unlink()
    _flip(log_of(path), 5000)
    with open_home(place, Turning()) as home, pytest.raises(Damaged, match="was damaged or cut"):
        _saved(home)


def test_without_the_index_a_last_transaction_that_is_torn_is_dropped_as_ever(place: Path) -> None:
    files = _write_and_die(place)
    (path,) = files.vaults()
    path.with_name(path.name + "-shm").unlink()
    data = log_of(path).read_bytes()
    # Its last frame is whole but for one byte, as after a power cut that wrote the sectors in another order.
    _flip(log_of(path), len(data) - 1)
    with open_home(place, Turning()) as home:
        assert _saved(home) == 2


@pytest.mark.parametrize("name", ["catalog", "keys"])
def test_the_logs_of_the_catalog_and_of_the_keys_are_watched_too(place: Path, name: str) -> None:
    files = _write_and_die(place, "auto")
    log = log_of(files.catalog if name == "catalog" else files.keys)
    _flip(log, log.stat().st_size // 2)
    with pytest.raises(Damaged, match=f"{name}.db was damaged or cut"):
        open_home(place, Turning(), encryption="auto")
    if name == "catalog":
        # The lost changes may be revoked keys.
        with pytest.raises(Damaged, match="older than last seen"):
            open_home(place, Turning(), encryption="auto")
    open_home(place, Turning(), encryption="auto").close()


def test_a_log_that_others_write_meanwhile_is_no_damage(place: Path) -> None:
    with open_home(place, Turning()) as first:
        for number in range(40):
            first.vault(_OWNER).memories.save(f"number {number}")
            with open_home(place, Turning()) as second:
                assert _saved(second) == number + 1
        first.vault(_OWNER).privacy.trash.list()


def test_a_log_that_the_last_other_process_empties_meanwhile_is_no_damage(place: Path) -> None:
    path = place / "busy.db"
    with closing(connect(path)) as connection:
        connection.execute("CREATE TABLE filled (data); INSERT INTO filled VALUES (0)")
    ready, told = os.pipe()
    hear, close = os.pipe()
    child = os.fork()
    if child == 0:
        connection = connect(path)
        connection.execute("UPDATE filled SET data = 1")
        os.write(told, b"!")
        os.read(hear, 1)
        connection.close()
        os._exit(0)
    assert os.read(ready, 1) == b"!"
    was = path.stat()

    def opening() -> SqliteDatabase:
        os.write(close, b"!")
        os.waitpid(child, 0)
        assert not log_of(path).exists()
        # As if it had written the pages just before the log was examined.
        os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
        return SqliteDatabase(path, SqliteOptions())

    with closing(open_database(Home(place), system_clock, path, opening)) as database:
        assert database.read(lambda tx: tx.rows("SELECT data FROM filled", {})[0][0]) == 1


@pytest.mark.slow
def test_a_log_that_others_fill_and_empty_meanwhile_is_no_damage(place: Path) -> None:
    path = place / "busy.db"
    others = [_fill_and_empty(path) for _ in range(2)]
    try:
        for _ in range(1500):
            open_database(Home(place), system_clock, path, partial(SqliteDatabase, path, SqliteOptions())).close()
    finally:
        for child in others:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)


def _fill_and_empty(path: Path) -> int:
    """A process that writes until it is killed; its number."""
    child = os.fork()
    try:
        while child == 0:
            # The last connection to be closed moves the log into the database and removes it.
            with closing(connect(path, key=None, cache_kib=100)) as connection:
                connection.execute("CREATE TABLE IF NOT EXISTS filled (data)")
                for _ in range(7):
                    connection.execute("INSERT INTO filled VALUES (zeroblob(3000))")
    finally:
        if child == 0:
            os._exit(1)
    return child
