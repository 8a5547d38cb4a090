"""In a vault that no cipher guards, each row that somebody would miss has a seal, which changes and goes with it."""

from collections.abc import Callable
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import Damaged, WrongKey
from recollectum.domain.hit import IndexHealth
from recollectum.recall.index.verification import check_index
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.connection import PAGE_BYTES, connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.tables.trail import seals
from recollectum.upkeep.backup.repair import repair
from recollectum.upkeep.doctor.vault_checks import read_vault
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from recollectum.vault.vault import Vault
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home
from tests.upkeep.homes import ANN, fill, said

pytestmark = pytest.mark.process

_COUNT = "SELECT count(*) FROM {}"
_DIGESTS = "SELECT hex(digest) FROM seals WHERE source = 'memories'"


def _filled(home: Recollectum) -> Vault:
    vault = home.vault(ANN)
    fill(vault, 20)
    return vault


def _file(home: Recollectum) -> Path:
    path = file_of(home, ANN)
    assert path
    return path


def _look(path: Path, key: bytes | None = None) -> tuple[IndexHealth, int]:
    """What the check says, and how many seals there are."""
    database = SqliteDatabase(path, SqliteOptions(key=key))
    try:
        return database.read(lambda tx: (check_index(tx), tx.rows(_COUNT.format("seals"), {})[0][0]))
    finally:
        database.close()


def _behind_our_back(path: Path, *statements: str) -> None:
    """As bits flip: without the triggers that a connection of ours has."""
    connection = connect(path)
    for sql in statements:
        connection.execute(sql)
    connection.close()


def _rows(tx: Tx) -> int:
    return sum(tx.rows(_COUNT.format(source), {})[0][0] for source in seals.SOURCES)


def test_every_row_has_its_seal_whatever_happens_to_it(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = _filled(home)
        kept = vault.memories.save("the boat is blue", importance=1).memory
        vault.memories.edit(kept.id, content="the boat is grün")
        vault.memories.supersede(kept.id, content="the boat is sold")
        vault.memories.forget(vault.memories.save("nothing of weight").id)
        chat = vault.sessions.open(channel="other", agent="main")
        chat.add("user", "a word\x00with a zero")
        chat.describe(title="a title", summary="a summary")
        vault.sessions.delete(chat.id)
        path = _file(home)
    database = SqliteDatabase(path, SqliteOptions())
    rows, changed, orphaned = database.read(lambda tx: (_rows(tx), seals.changed(tx), seals.orphaned(tx)))
    database.close()
    assert _look(path) == (IndexHealth(missing=0, stray=0), rows)
    assert (changed, orphaned) == ([], 0)
    assert rows > 60


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE memories SET content = upper(content) WHERE number = 3",
        "UPDATE memories SET key = 'teb' WHERE key = 'tea'",
        "UPDATE memories SET created_at = created_at + 1 WHERE number = 3",
        "UPDATE memories SET importance = importance + 1e-9 WHERE number = 3",
        "UPDATE memory_versions SET content = upper(content)",
        "UPDATE messages SET text = upper(text) WHERE number = 2",
        "UPDATE messages SET role = 'tool' WHERE number = 2",
        "UPDATE sessions SET updated_at = updated_at + 4",
        "UPDATE events SET at = at + 1 WHERE number = 2",
        "UPDATE undo_rows SET key = 'teb'",
        "UPDATE seals SET digest = zeroblob(16) WHERE source = 'messages' AND number = 2",
        "UPDATE seals SET number = number + 4096 WHERE source = 'messages' AND number = 2",
        "UPDATE seals SET source = 'nessages' WHERE source = 'messages' AND number = 2",
        "DELETE FROM seals WHERE source = 'messages' AND number = 2",
    ],
)
def test_one_row_that_changed_behind_our_back_is_told(tmp_path: Path, change: str) -> None:
    with open_home(tmp_path, Turning()) as home:
        _filled(home)
        path = _file(home)
    _behind_our_back(path, change)
    with open_home(tmp_path, Turning()) as home:
        health = home.vault(ANN).admin.index.verify()
        assert (health.sound, health.changed) == (False, 1)
        assert health.words.endswith("1 rows differ from what was written")
        (entry,) = home.admin.entries([Owner.parse(ANN)])
        assert any(
            "differ from what was written" in fault for fault in read_vault(home.admin, entry, data=False).faults
        )


def test_a_repair_names_what_is_doubtful_and_seals_it_anew(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = _filled(home)
        (doubtful,) = vault.memories.list(limit=1)
        path = _file(home)
    _behind_our_back(path, f"UPDATE memories SET content = 'TEA IS DRUNK' WHERE id = '{doubtful.id}'")
    with open_home(tmp_path, Turning()) as home:
        done = repair(home.admin, Owner.parse(ANN))
        assert done.doubtful == (f"memories {doubtful.id}",)
        assert (done.lost, "seals" in {one.table for one in done.tables}) == (0, False)
        assert home.vault(ANN).admin.index.verify().sound
        assert home.vault(ANN).memories.get(doubtful.id).content == "TEA IS DRUNK"
    _behind_our_back(path, "UPDATE messages SET text = upper(text) WHERE number = 2")
    assert _look(path)[0].changed == 1


def test_rows_from_before_are_sealed_once_when_the_vault_is_opened(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        _filled(home)
        path = _file(home)
    before = _look(path)
    _behind_our_back(path, "DELETE FROM seals", "DELETE FROM meta WHERE name = 'sealed'")
    assert _look(path) == (IndexHealth(missing=0, stray=0), 0)
    with open_home(tmp_path, Turning()) as home:
        assert home.vault(ANN).admin.index.verify().sound
    assert _look(path) == before


def test_an_encrypted_vault_has_none(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning(), encryption="auto") as home:
        assert _filled(home).admin.index.verify().sound
        (entry,) = home.admin.entries([Owner.parse(ANN)])
        path, key = _file(home), home.admin.key_of(entry)
    assert key
    assert _look(path, key) == (IndexHealth(missing=0, stray=0), 0)
    database = SqliteDatabase(path, SqliteOptions(key=key))
    database.write(seals.seal)
    database.close()
    assert _look(path, key)[1] > 0
    with open_home(tmp_path, Turning(), encryption="auto") as home:
        # As after a restore of what was plain: nobody would keep them.
        assert home.vault(ANN).memories.save("one more").id
        assert home.vault(ANN).admin.index.verify().sound
    assert _look(path, key)[1] == 0


def _is_noticed(path: Path, key: bytes, at: int) -> bool:
    """Whether the check notices that one byte of the file has changed."""
    data = path.read_bytes()
    path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1 :])
    try:
        return not _look(path, key)[0].sound
    except (Damaged, WrongKey):
        return True
    finally:
        path.write_bytes(data)


def test_a_changed_page_of_a_long_text_in_an_encrypted_vault_is_noticed(tmp_path: Path) -> None:
    long = "a word of many " * 6000
    with open_home(tmp_path, Turning(), encryption="auto") as home:
        home.vault(ANN).memories.save(long)
        (entry,) = home.admin.entries([Owner.parse(ANN)])
        path, key = _file(home), home.admin.key_of(entry)
    assert key
    noticed = sum(_is_noticed(path, key, at) for at in range(1000, path.stat().st_size, PAGE_BYTES))
    assert noticed > len(long) / PAGE_BYTES


def _digests(path: Path) -> set[bytes]:
    database = SqliteDatabase(path, SqliteOptions())
    try:
        return {bytes.fromhex(found) for (found,) in database.read(lambda tx: tx.rows(_DIGESTS, {}))}
    finally:
        database.close()


def _in_files(path: Path, digests: set[bytes]) -> int:
    parts = [path.with_name(path.name + suffix) for suffix in ("", "-wal")]
    whole = b"".join(part.read_bytes() for part in parts if part.exists())
    return sum(digest in whole for digest in digests)


def _edit(vault: Vault, memory: str) -> None:
    vault.memories.edit(memory, content="the safe is open")


def _leave(_: Vault, __: str) -> None:
    """Nothing."""


@pytest.mark.feature("P9")
@pytest.mark.parametrize("first", [_leave, _edit])
def test_a_purge_leaves_no_seal_of_what_it_erased(tmp_path: Path, first: Callable[[Vault, str], None]) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = _filled(home)
        path = _file(home)
        others = _digests(path)
        memory = vault.memories.save("the number of the safe is 4711").memory
        erased = _digests(path) - others
        assert _in_files(path, erased) == 1
        first(vault, memory.id)
        erased |= _digests(path) - others
        seen = vault.privacy.purge.preview(PurgeRequest.memories(memory.id))
        assert vault.privacy.purge.run(seen.token).state is PurgeState.DONE
        assert vault.admin.index.verify().sound
    assert _in_files(path, erased) == 0
    assert _in_files(path, others) == len(others)


def test_a_backup_brings_the_seals_back(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = _filled(home)
        told, path = said(vault), _file(home)
        copy = tmp_path / "copy.db"
        database = SqliteDatabase(path, SqliteOptions())
        back_up(database, copy, key=None)
        database.close()
        assert said(vault) == told
    assert _look(copy) == _look(path)
    _behind_our_back(copy, "UPDATE messages SET text = upper(text) WHERE number = 2")
    assert _look(copy)[0].changed == 1
