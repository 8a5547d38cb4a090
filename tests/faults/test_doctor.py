"""The doctor finds what is wrong, says how bad it is and what cures it, and removes only what holds nothing."""

import os
import shutil
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.home.locks import Lock
from recollectum.storage.sqlite.connection import PAGE_BYTES
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.upkeep.doctor.examination import examine
from recollectum.upkeep.doctor.home_checks import HealthFinding, Severity, permissions, worst
from recollectum.upkeep.doctor.vault_checks import read_base, read_vault
from recollectum.vault.intake.draft import Draft
from tests.crashes.homes import file_of
from tests.matrix.homes import quick_folder
from tests.upkeep.homes import ANN, fill

pytestmark = pytest.mark.slow

_OLD = time.time() - 7200


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _open(place: Path, encryption: str = "auto") -> Recollectum:
    environ = {"HOME": str(place / "user"), "XDG_CONFIG_HOME": str(place / "config")}
    settings = {"encryption": encryption, "storage.reserve_mib": 1, "embedding.provider": "none"}
    return Recollectum(place / "home", settings=settings, environ=environ)


def _findings(home: Recollectum, *, deep: bool = False, fix: bool = False) -> list[HealthFinding]:
    return examine(
        home.admin, lambda owner: home.vault(owner, create=False).admin.clock(), home.settings, deep=deep, fix=fix
    )


def _about(findings: list[HealthFinding], topic: str) -> list[HealthFinding]:
    return [one for one in findings if one.topic.startswith(topic)]


def test_a_home_in_good_order_has_nothing_but_what_a_person_should_know(place: Path) -> None:
    with _open(place) as home:
        fill(home.vault(ANN), 20)
        home.encryption().new_recovery_code()
        found = _findings(home)
    assert worst(found) is Severity.NOTE
    assert [one.topic for one in found if one.severity is not Severity.FINE] == ["backup"]
    assert all(one.cure for one in found if one.severity is not Severity.FINE)
    assert _about(found, "telemetry")


def test_without_encryption_or_a_recovery_code_it_warns(place: Path) -> None:
    with _open(place / "plain", "off") as home:
        assert _about(_findings(home), "key")[0].severity is Severity.WARNING
    with _open(place / "sealed") as home:
        assert _about(_findings(home), "recovery code")[0].severity is Severity.WARNING


def test_a_file_that_others_may_read_is_found(place: Path) -> None:
    with _open(place) as home:
        fill(home.vault(ANN), 4)
        kept = home.home
    assert [one.severity for one in permissions(kept)] == [Severity.FINE]
    HomeFiles(kept).catalog.chmod(0o644)
    (found,) = permissions(kept)
    assert (found.severity, str(HomeFiles(kept).catalog) in found.words) == (Severity.PROBLEM, True)


def test_an_orphan_that_holds_nothing_is_removed_and_one_that_holds_something_is_not(place: Path) -> None:
    with _open(place) as home:
        fill(home.vault(ANN), 4)
        file = file_of(home, ANN)
        admin = home.admin
        empty = HomeFiles(home.home).vault("vlt_empty")
        key = admin.keys.make_key("vlt_empty")
        SqliteDatabase(empty, SqliteOptions(key=key)).close()
        full = HomeFiles(home.home).vault("vlt_full")
    assert file
    shutil.copyfile(file, full)
    full.chmod(0o600)
    with _open(place) as home:
        # Being made at this moment, for all that is known.
        assert not any(one.fixed for one in _findings(home, fix=True))
        assert empty.exists()
        for path in (empty, full):
            os.utime(path, (_OLD, _OLD))
        found = _about(_findings(home, fix=True), "orphan")
        assert sorted((one.severity, one.fixed) for one in found) == [("note", True), ("warning", False)]
        assert not empty.exists()
        assert full.exists()
        assert not home.encryption().has_key("vlt_empty")
        assert home.vault(ANN).admin.index.verify().sound


def test_leftovers_of_a_killed_backup_are_removed(place: Path) -> None:
    with _open(place) as home:
        left = home.home.backups / ".0a-0b.unfinished"
        (left / "vaults").mkdir(parents=True)
        assert not _about(_findings(home), "left over")
        os.utime(left, (_OLD, _OLD))
        assert [one.fixed for one in _about(_findings(home), "left over")] == [False]
        assert [one.fixed for one in _about(_findings(home, fix=True), "left over")] == [True]
        assert not left.exists()


def test_rows_that_belong_to_nothing_and_an_index_that_drifted_are_a_problem(place: Path) -> None:
    with _open(place) as home:
        fill(home.vault(ANN), 20)
        # What was saved together is indexed by the next search.
        home.vault(ANN).recall("memory")
        path = file_of(home, ANN)
        (entry,) = home.admin.entries([Owner.parse(ANN)])
        key = home.admin.key_of(entry)
        assert path
        database = SqliteDatabase(path, SqliteOptions(key=key))
        database.write(lambda tx: tx.run("DELETE FROM chunks WHERE number = (SELECT min(number) FROM chunks)", {}))
        database.write(lambda tx: tx.run("UPDATE memory_versions SET memory_id = 'mem_gone'", {}))
        database.close()
        found = _about(_findings(home), "vault")
        assert worst(found) is Severity.PROBLEM
        words = " ".join(one.words for one in found)
        assert "versions of missing memories" in words
        assert "missing from the index" in words


def test_duplicates_a_reserve_that_is_gone_and_a_hung_lock_are_told(place: Path) -> None:
    with _open(place, "off") as home:
        vault = home.vault(ANN)
        vault.memories.save_many([Draft(content="the same thing", importance=0.1), Draft(content="another thing")])
        path = file_of(home, ANN)
        assert path
        database = SqliteDatabase(path, SqliteOptions())
        database.write(lambda tx: tx.run("UPDATE memories SET fingerprint = 'x'", {}))
        database.close()
        home.home.reserve_file.unlink()
        found = _findings(home)
        words = " ".join(one.words for one in found)
        assert "1 memories duplicate another (50%)" in words
        assert "1 memories have an importance below 0.2 (50%)" in words
        assert _about(found, "disk reserve")[0].severity is Severity.WARNING
        with Lock(home.home.locks / "some.lock"):
            assert not _about(_findings(home), "locks")
        with Lock(home.home.locks / "some.lock", clock=lambda: datetime(2026, 1, 1, tzinfo=UTC)):
            assert "some.lock" in _about(_findings(home), "locks")[0].words


def _free_pages(path: Path) -> set[int]:
    """The pages of a plain file that hold nothing, counted from 0."""
    connection = apsw.Connection(str(path))
    used = {int(str(row[0])) - 1 for row in connection.execute("SELECT pageno FROM dbstat").fetchall()}
    connection.close()
    return set(range(path.stat().st_size // PAGE_BYTES)) - used


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_a_reading_of_all_data_finds_every_damaged_page_that_holds_something(place: Path, encryption: str) -> None:
    with _open(place, encryption) as home:
        fill(home.vault(ANN), 300)
        path = file_of(home, ANN)
    assert path
    whole = path.read_bytes()
    free = set[int]() if encryption == "auto" else _free_pages(path)
    assert len(free) < 5
    for page in set(range(1, len(whole) // PAGE_BYTES)) - free:
        raw = bytearray(whole)
        raw[page * PAGE_BYTES : page * PAGE_BYTES + 64] = bytes(range(64))
        path.write_bytes(raw)
        with _open(place, encryption) as home:
            (entry,) = home.admin.entries([Owner.parse(ANN)])
            assert not read_vault(home.admin, entry).sound, page
    path.write_bytes(whole)
    with _open(place, encryption) as home:
        (entry,) = home.admin.entries([Owner.parse(ANN)])
        assert read_vault(home.admin, entry).sound
        assert read_base(home.admin) == ()


def test_a_text_that_was_changed_in_a_plain_file_is_noticed(place: Path) -> None:
    with _open(place, "off") as home:
        fill(home.vault(ANN), 10)
        path = file_of(home, ANN)
    assert path
    raw = path.read_bytes()
    assert raw.count(b"number 7 of the things") >= 1
    path.write_bytes(raw.replace(b"number 7 of the things", b"number 6 of the things"))
    with _open(place, "off") as home:
        (entry,) = home.admin.entries([Owner.parse(ANN)])
        assert any("text is not what was written" in fault for fault in read_vault(home.admin, entry).faults)
        told = [one.words for one in _about(_findings(home, deep=True), "vault") if one.severity is Severity.PROBLEM]
        assert any("text is not what was written" in words for words in told)
