"""What is gone is missed: nothing empty takes the place of a key, a catalog or a vault that was lost."""

import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import (
    KeyProblem,
    KeyStoreMissing,
    RecollectumError,
    SchemaNewer,
    StorageError,
    WrongKey,
)
from recollectum.storage.sqlite.connection import connect
from tests.crashes.homes import vault_files
from tests.faults.sentences import CANARY, assert_sentence

pytestmark = pytest.mark.slow


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """An encrypted home with two people."""
    root = tmp_path / "home"
    with Recollectum(root) as r:
        for name in ("ann", "ben"):
            r.vault(f"user:{name}").memories.save(f"{name} has a secret, {CANARY}")
    return root


@contextmanager
def _unchanged(root: Path) -> Generator[None]:
    """What is tried may neither change nor make a file that holds anything."""
    before = _content(root)
    yield
    assert _content(root) == before


def _content(root: Path) -> dict[str, bytes]:
    files = [path for path in root.rglob("*") if path.is_file() and path.suffix != ".lock" and path.name != "reserve"]
    return {str(path): path.read_bytes() for path in files if path.stat().st_size and path.suffix != ".db-shm"}


def _use(root: Path) -> None:
    with Recollectum(root) as r:
        r.vault("user:ann").memories.save("one more")


def _refused(root: Path, kind: type[RecollectumError], path: Path) -> RecollectumError:
    with pytest.raises(kind) as caught:
        _use(root)
    assert_sentence(caught.value, path)
    return caught.value


def _key_file() -> Path:
    (path,) = Path(os.environ["XDG_CONFIG_HOME"]).rglob("*.key")
    return path


def test_a_lost_key_store_is_not_replaced(home: Path, tmp_path: Path) -> None:
    (home / "keys.db").rename(tmp_path / "keys.db")
    with _unchanged(home):
        _refused(home, KeyStoreMissing, home / "keys.db")
    (tmp_path / "keys.db").rename(home / "keys.db")
    _use(home)


def test_a_lost_key_file_is_not_replaced(home: Path, tmp_path: Path) -> None:
    path = _key_file()
    path.rename(tmp_path / "key")
    with _unchanged(home):
        _refused(home, KeyProblem, path)
    assert not path.exists()
    (tmp_path / "key").rename(path)
    _use(home)


def test_the_key_of_another_home_is_refused(home: Path, tmp_path: Path) -> None:
    mine = _key_file()
    kept = mine.read_bytes()
    with Recollectum(tmp_path / "other") as r:
        r.vault("user:ann")
    (other,) = (path for path in mine.parent.glob("*.key") if path != mine)
    shutil.copyfile(other, mine)
    with _unchanged(home):
        _refused(home, KeyProblem, mine)
    mine.write_bytes(kept)
    _use(home)


def test_the_file_of_another_vault_is_refused(home: Path) -> None:
    ann, ben = vault_files(home)
    kept = ann.read_bytes()
    shutil.copyfile(ben, ann)
    with _unchanged(home):
        _refused(home, WrongKey, ann)
    ann.write_bytes(kept)
    _use(home)


def test_a_lost_vault_is_not_replaced(home: Path, tmp_path: Path) -> None:
    path = vault_files(home)[0]
    path.rename(tmp_path / "vault")
    with _unchanged(home):
        _refused(home, StorageError, path)
    assert not path.exists()
    with Recollectum(home) as r:
        assert len(r.vault("user:ben").memories.list()) == 1
    (tmp_path / "vault").rename(path)
    _use(home)


def test_a_vault_cut_to_nothing_is_not_taken_for_a_new_one(home: Path) -> None:
    path = vault_files(home)[0]
    kept = path.read_bytes()
    path.write_bytes(b"")
    for _ in range(2):
        _refused(home, StorageError, path)
    path.write_bytes(kept)
    _use(home)


@pytest.mark.parametrize("how", ["missing", "empty"])
def test_a_lost_catalog_does_not_make_people_strangers(home: Path, tmp_path: Path, how: str) -> None:
    path = home / "catalog.db"
    path.rename(tmp_path / "catalog")
    if how == "empty":
        path.touch()
    with _unchanged(home):
        _refused(home, StorageError, path)
    (tmp_path / "catalog").replace(path)
    _use(home)


def test_a_vault_of_a_newer_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    root = tmp_path / "home"
    with Recollectum(root) as r:
        r.vault("user:ann").memories.save(CANARY)
    (path,) = vault_files(root)
    connection = connect(path)
    connection.execute("INSERT INTO migrations VALUES (9999, 'later', 'unknown', 0)")
    connection.close()
    with _unchanged(root):
        _refused(root, SchemaNewer, path)


def test_a_catalog_of_a_newer_program_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    root = tmp_path / "home"
    with Recollectum(root) as r:
        r.vault("user:ann")
    connection = connect(root / "catalog.db")
    connection.execute("INSERT INTO migrations VALUES (9999, 'later', 'unknown', 0)")
    connection.close()
    _refused(root, SchemaNewer, root / "catalog.db")
