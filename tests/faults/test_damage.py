"""A file that was changed behind our back is noticed: an error in a sentence, or the very same content."""

import random
import shutil
from pathlib import Path

import pytest

from recollectum.domain.errors import Damaged, KeyProblem, RecollectumError, StorageError, WrongKey
from recollectum.recall.index.verification import check_index
from recollectum.storage.port import Row
from recollectum.storage.sqlite.connection import PAGE_BYTES
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.integrity import page_faults, row_faults
from recollectum.storage.tables.trail.seals import SOURCES
from recollectum.vault.intake.draft import Draft
from tests.crashes.consistency import disagreements
from tests.crashes.ledger import Seen, look
from tests.crashes.standing import standing
from tests.faults.sentences import CANARY, assert_sentence

pytestmark = pytest.mark.slow

_KEY = bytes(range(32))
_PAGE = PAGE_BYTES
_FLIPS = 200


def _filled(path: Path, key: bytes | None) -> Path:
    with standing(path, SqliteOptions(key=key)) as at:
        long = " ".join([CANARY] * 800)
        at.vault.memories.save_many([Draft(content=f"number {n} is kept, {CANARY}") for n in range(300)])
        at.vault.memories.save_many([Draft(content=f"chapter {n}: {long}") for n in range(5)])
        chat = at.vault.sessions.open(channel="test", agent="main")
        for number in range(50):
            chat.add("user", f"message {number} about {CANARY}")
        # What was saved together is indexed by the next search.
        at.vault.recall(CANARY)
    return path


@pytest.fixture(scope="module")
def encrypted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _filled(tmp_path_factory.mktemp("encrypted") / "vault.db", _KEY)


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return _filled(tmp_path_factory.mktemp("plain") / "vault.db", None)


def _content(path: Path, key: bytes | None) -> Seen:
    """Everything in the vault, read to the last page."""
    database = SqliteDatabase(path, SqliteOptions(key=key))
    try:
        found = disagreements(database)
        if found:
            # A page that no statement had to read.
            raise Damaged(found[0])
        return database.read(look)
    finally:
        database.close()


def test_every_single_bit_that_flips_in_an_encrypted_vault_is_noticed(tmp_path: Path, encrypted: Path) -> None:
    whole = encrypted.read_bytes()
    expected = _content(encrypted, _KEY)
    chance = random.Random(20261115)
    noticed = 0
    for number in range(_FLIPS):
        at = chance.randrange(len(whole) * 8)
        changed = bytearray(whole)
        changed[at // 8] ^= 1 << (at % 8)
        path = tmp_path / f"{number}.db"
        path.write_bytes(changed)
        try:
            seen = _content(path, _KEY)
        except (Damaged, WrongKey):
            noticed += 1
        else:
            assert seen == expected, f"bit {at} changed what is read"
        path.unlink()
    # The rest fell on bytes that no page uses.
    assert noticed >= _FLIPS * 0.95


def _remembered(path: Path) -> dict[str, list[Row]] | None:
    """Every value of the rows that are sealed, as SQLite reads them; None when it cannot."""
    try:
        database = SqliteDatabase(path, SqliteOptions())
        try:
            return database.read(lambda tx: {name: tx.rows(f"SELECT * FROM {name}", {}) for name in SOURCES})
        finally:
            database.close()
    except StorageError:
        return None


def _is_noticed(path: Path) -> bool:
    """Whether what looks for damage finds some."""
    try:
        database = SqliteDatabase(path, SqliteOptions())
        try:
            found = database.on_connection(page_faults) or database.on_connection(row_faults)
            return bool(found) or not database.read(check_index).sound
        finally:
            database.close()
    except StorageError:
        return True


def test_every_single_bit_that_flips_in_what_a_plain_vault_remembers_is_noticed(tmp_path: Path, plain: Path) -> None:
    whole = plain.read_bytes()
    expected = _remembered(plain)
    assert not _is_noticed(plain)
    chance = random.Random(20261116)
    harmful = 0
    for number in range(_FLIPS):
        at = chance.randrange(len(whole) * 8)
        changed = bytearray(whole)
        changed[at // 8] ^= 1 << (at % 8)
        path = tmp_path / f"{number}.db"
        path.write_bytes(changed)
        if _remembered(path) != expected:
            harmful += 1
            assert _is_noticed(path), f"bit {at} changed what is remembered"
        path.unlink()
    # The rest fell on bytes that no page uses, or on what is made from the rows; with none left, nothing was tested.
    assert harmful >= _FLIPS // 10


@pytest.mark.parametrize("page", ["first", "middle", "last"])
@pytest.mark.parametrize("cipher", ["encrypted", "plain"])
def test_a_page_of_rubbish_is_one_sentence(
    tmp_path: Path, request: pytest.FixtureRequest, cipher: str, page: str
) -> None:
    source: Path = request.getfixturevalue(cipher)
    key = _KEY if cipher == "encrypted" else None
    path = tmp_path / "vault.db"
    shutil.copyfile(source, path)
    pages = path.stat().st_size // _PAGE
    number = {"first": 0, "middle": _page_of_the_memories(source, key), "last": pages - 1}[page]
    _overwrite(path, number * _PAGE, random.Random(number).randbytes(_PAGE))
    with pytest.raises((Damaged, KeyProblem)) as caught:
        _read_all(path, key)
    assert_sentence(caught.value, path)


def _page_of_the_memories(path: Path, key: bytes | None) -> int:
    database = SqliteDatabase(path, SqliteOptions(key=key))
    rows = database.read(lambda tx: tx.rows("SELECT rootpage FROM sqlite_schema WHERE name = 'memories'", {}))
    database.close()
    return rows[0][0] - 1


def _overwrite(path: Path, offset: int, data: bytes) -> None:
    with path.open("r+b") as file:
        file.seek(offset)
        file.write(data)


def _read_all(path: Path, key: bytes | None) -> None:
    """Use the vault as a person does; what is found damaged there must not come out as an answer."""
    with standing(path, SqliteOptions(key=key)) as at:
        for memory in at.vault.memories.list(limit=1000):
            at.vault.memories.history(memory.id)
        at.vault.sessions.open(channel="test", agent="main").transcript(limit=1000)
        at.vault.recall(CANARY)
        if found := disagreements(at.database):
            raise Damaged(f"{path} is damaged; restore a backup ({found[0].splitlines()[0]})")


def test_text_that_is_no_longer_text_is_one_sentence(tmp_path: Path, plain: Path) -> None:
    path = tmp_path / "vault.db"
    shutil.copyfile(plain, path)
    _overwrite(path, path.read_bytes().index(b"number 7 is kept"), b"\xff\xfe\xff")
    with pytest.raises(Damaged) as caught:
        _read_all(path, None)
    assert_sentence(caught.value, path)


@pytest.mark.parametrize("key", [bytes(32), None], ids=["another key", "no key"])
def test_an_encrypted_vault_opens_with_its_own_key_alone(tmp_path: Path, encrypted: Path, key: bytes | None) -> None:
    path = tmp_path / "vault.db"
    shutil.copyfile(encrypted, path)
    before = path.read_bytes()
    with pytest.raises(RecollectumError) as caught:
        _read_all(path, key)
    assert isinstance(caught.value, WrongKey if key else Damaged)
    assert_sentence(caught.value, path)
    assert path.read_bytes() == before


def test_a_plain_vault_is_not_opened_with_a_key(tmp_path: Path, plain: Path) -> None:
    path = tmp_path / "vault.db"
    shutil.copyfile(plain, path)
    before = path.read_bytes()
    with pytest.raises(WrongKey) as caught:
        _read_all(path, _KEY)
    assert_sentence(caught.value, path)
    assert path.read_bytes() == before


def test_nothing_private_can_be_read_from_an_encrypted_file(encrypted: Path, plain: Path) -> None:
    assert CANARY.encode() in plain.read_bytes()
    whole = encrypted.read_bytes()
    assert CANARY.encode() not in whole
    assert b"SQLite format 3" not in whole
    assert b"CREATE TABLE" not in whole
