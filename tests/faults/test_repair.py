"""A damaged vault is salvaged: what can be read is saved, nothing that is wrong is, and the damaged file is kept."""

import random
from collections.abc import Iterator
from pathlib import Path
from typing import cast

import pytest

from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, StorageError
from recollectum.domain.ids import system_clock
from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.connection import PAGE_BYTES, connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate, shipped
from recollectum.storage.tables.trail import meta
from recollectum.upkeep.backup.repair import RepairResult, repair
from recollectum.upkeep.doctor.vault_checks import read_vault
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, fill

pytestmark = pytest.mark.slow

_PAGE = PAGE_BYTES
_OWNER = Owner.parse(ANN)


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _made(place: Path, encryption: str, count: int = 900) -> tuple[Path, set[str], set[str]]:
    """A vault's file, and everything that is in it."""
    with open_home(place, Turning(), encryption=encryption) as home:
        vault = home.vault(ANN)
        fill(vault, count)
        path = file_of(home, ANN)
        assert path
        return path, _texts(place, encryption), _messages(place, encryption)


def _texts(place: Path, encryption: str) -> set[str]:
    with open_home(place, Turning(), encryption=encryption) as home:
        found: set[str] = set()
        before: str | None = None
        while page := home.vault(ANN).memories.list(cursor=before, limit=500):
            found |= {memory.content for memory in page}
            before = page[-1].id
        return found


def _messages(place: Path, encryption: str) -> set[str]:
    with open_home(place, Turning(), encryption=encryption) as home:
        vault = home.vault(ANN)
        sessions = vault.sessions.list(limit=100)
        return {message.text for one in sessions for message in vault.sessions.chat(one.id).messages(limit=1000)}


def _smash(path: Path, chance: random.Random, pages: int, *, rubbish: bool) -> None:
    raw = bytearray(path.read_bytes())
    for page in chance.sample(range(1, len(raw) // _PAGE), pages):
        if rubbish:
            raw[page * _PAGE : (page + 1) * _PAGE] = chance.randbytes(_PAGE)
        else:
            raw[page * _PAGE + chance.randrange(_PAGE)] ^= 1 << chance.randrange(8)
    path.write_bytes(raw)


def _repaired(place: Path, encryption: str) -> RepairResult:
    with open_home(place, Turning(), encryption=encryption) as home:
        done = repair(home.admin, _OWNER)
        (entry,) = home.admin.entries([_OWNER])
        report = read_vault(home.admin, entry)
        assert [fault for fault in report.faults if "text is not" not in fault] == []
        assert home.vault(ANN).admin.index.verify().sound
        home.vault(ANN).memories.save("life goes on")
        assert home.vault(ANN).recall("life goes on")
        return done


def _saved(done: RepairResult, table: str) -> tuple[int, int]:
    (tally,) = [one for one in done.tables if one.table == table]
    return tally.saved, tally.lost


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("rubbish", [False, True])
def test_an_encrypted_vault_with_damaged_pages_keeps_the_rest(place: Path, seed: int, *, rubbish: bool) -> None:
    path, texts, messages = _made(place, "auto")
    _smash(path, random.Random(seed), 4, rubbish=rubbish)
    damaged = path.read_bytes()
    done = _repaired(place, "auto")
    assert done.faults
    assert done.evidence
    assert (done.evidence / path.name).read_bytes() == damaged
    after = _texts(place, "auto") - {"life goes on"}
    # Nothing wrong, most of it there, and the report tells the truth about how much.
    assert after <= texts
    assert _messages(place, "auto") <= messages
    saved, lost = _saved(done, "memories")
    assert len(after) == saved
    assert saved + lost == len(texts)
    assert saved >= 0.75 * len(texts)


@pytest.mark.parametrize("encryption", ["auto", "off"])
@pytest.mark.parametrize(("page", "by_steps"), [(PAGE_BYTES, False), (PAGE_BYTES, True), (4096, True)])
def test_a_vault_that_has_lost_its_schema_keeps_its_rows(
    place: Path, encryption: str, page: int, *, by_steps: bool
) -> None:
    with open_home(place, Turning(), encryption=encryption) as home:
        home.vault(ANN)
        path = file_of(home, ANN)
        key = home.encryption().key(path.stem) if encryption == "auto" else None
    if by_steps:
        _made_by_steps(path, key, page)
    path, texts, _ = _made(place, encryption, 100)
    connection = connect(path, key=key)
    assert connection.pragma("page_size") == page
    sql = "SELECT pageno FROM dbstat WHERE name = 'sqlite_schema' AND pageno > 1"
    pages = cast(list[tuple[int]], connection.execute(sql).fetchall())
    connection.close()
    raw = bytearray(path.read_bytes())
    for (number,) in pages:
        raw[(number - 1) * page : number * page] = random.Random(1).randbytes(page)
    path.write_bytes(raw)
    assert _repaired(place, encryption).faults
    assert _texts(place, encryption) == texts | {"life goes on"}


def _made_by_steps(path: Path, key: bytes | None, page: int) -> None:
    """Make the vault again as earlier releases did; before small pages they stored the schema with its comments."""
    path.unlink()
    connect(path, key=key, page_bytes=page).close()
    database = SqliteDatabase(path, SqliteOptions(key=key))
    migrate(database, shipped(VAULT), clock=system_clock, backup=str, compact=page == PAGE_BYTES)
    database.write(lambda tx: meta.save(tx, "owner", ANN))
    database.close()


@pytest.mark.parametrize("seed", range(4))
def test_a_plain_vault_with_rubbish_in_it_keeps_the_rest(place: Path, seed: int) -> None:
    path, texts, messages = _made(place, "off")
    _smash(path, random.Random(seed), 4, rubbish=True)
    done = _repaired(place, "off")
    after = _texts(place, "off") - {"life goes on"}
    assert after <= texts
    assert _messages(place, "off") <= messages
    saved, lost = _saved(done, "memories")
    assert (len(after), saved + lost) == (saved, len(texts))


def _busy(place: Path) -> Path:
    """A vault in which rows hang together: sessions, versions, replaced facts and citations."""
    with open_home(place, Turning(), encryption="auto") as home:
        vault = home.vault(ANN)
        for number in range(150):
            chat = vault.sessions.open(channel=f"channel{number}", agent="main")
            chat.add("user", f"the {number}th conversation, which is a longer one so that pages fill up sooner")
            first = vault.memories.save(f"fact {number} as it was at first, with some words to make it longer").memory
            vault.memories.edit(first.id, content=f"fact {number} as it was later, with some words to make it longer")
            vault.memories.supersede(first.id, f"fact {number} as it is now, with some words to make it longer")
        path = file_of(home, ANN)
        assert path
        return path


@pytest.mark.parametrize("seed", range(6))
def test_rows_that_belonged_to_lost_ones_are_sorted_out(place: Path, seed: int) -> None:
    path = _busy(place)
    texts = _texts(place, "auto")
    _smash(path, random.Random(seed), 12, rubbish=False)
    done = _repaired(place, "auto")
    assert done.lost
    assert _texts(place, "auto") - {"life goes on"} <= texts | {
        f"fact {number} as it was later, with some words to make it longer" for number in range(150)
    }
    with open_home(place, Turning(), encryption="auto") as home:
        assert repair(home.admin, _OWNER).faults == ()


def test_rows_between_two_damaged_pages_are_found_by_the_ids_of_their_memories(place: Path) -> None:
    path = _busy(place)
    with open_home(place, Turning(), encryption="auto") as home:
        key = home.encryption().key(path.stem)
    connection = connect(path, key=key)
    sql = "SELECT pageno FROM dbstat WHERE name = 'memory_versions' AND pagetype = 'leaf' ORDER BY path"
    pages = [number for (number,) in cast(list[tuple[int]], connection.execute(sql).fetchall())]
    ((before,),) = cast(list[tuple[int]], connection.execute("SELECT count(*) FROM memory_versions").fetchall())
    connection.close()
    assert len(pages) > 12
    raw = bytearray(path.read_bytes())
    for number in (pages[1], pages[-2]):
        raw[(number - 1) * _PAGE : number * _PAGE] = random.Random(number).randbytes(_PAGE)
    path.write_bytes(raw)
    saved, lost = _saved(_repaired(place, "auto"), "memory_versions")
    # Two pages of rows are gone, and nothing of what lies between them.
    assert before * (1 - 3 / len(pages)) < saved < before
    assert lost


def test_nothing_is_done_to_a_vault_that_is_whole(place: Path) -> None:
    path, _, _ = _made(place, "auto", 40)
    before = path.read_bytes()
    with open_home(place, Turning(), encryption="auto") as home:
        done = repair(home.admin, _OWNER)
        assert (done.faults, done.tables, done.evidence) == ((), (), None)
        assert not list(home.home.backups.iterdir())
    assert path.read_bytes() == before


def test_a_forced_repair_of_a_whole_vault_loses_nothing(place: Path) -> None:
    _, texts, messages = _made(place, "auto", 200)
    with open_home(place, Turning(), encryption="auto") as home:
        done = repair(home.admin, _OWNER, force=True)
    assert done.lost == 0
    assert all(one.exact for one in done.tables)
    assert _texts(place, "auto") == texts
    assert _messages(place, "auto") == messages


def test_without_its_first_page_it_is_refused_and_left_as_it_was(place: Path) -> None:
    path, _, _ = _made(place, "auto", 40)
    raw = bytearray(path.read_bytes())
    raw[100] ^= 1
    path.write_bytes(raw)
    with open_home(place, Turning(), encryption="auto") as home:
        with pytest.raises(Damaged, match="restore a backup"):
            repair(home.admin, _OWNER)
        assert not list(home.home.backups.iterdir())
    assert path.read_bytes() == bytes(raw)


@pytest.mark.feature("M8")
@pytest.mark.parametrize("encryption", ["off", "auto"])
def test_a_vault_that_somebody_uses_is_not_replaced_under_them(place: Path, encryption: str) -> None:
    _made(place, encryption, 40)
    with open_home(place, Turning(), encryption=encryption) as home:
        with open_home(place, Turning(), encryption=encryption) as other:
            other.vault(ANN).memories.save("before the repair")
            with pytest.raises(StorageError, match="another program uses the vault of user:ann"):
                repair(home.admin, _OWNER, force=True)
            # What is acknowledged meanwhile is not lost with the file it went into.
            other.vault(ANN).memories.save("after the refusal")
        assert list((place / "home/backups").iterdir()) == []
        assert repair(home.admin, _OWNER, force=True).lost == 0
    assert {"before the repair", "after the refusal"} <= _texts(place, encryption)
