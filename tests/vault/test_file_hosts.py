"""Files of one host on a database that several use: another host's missing or older file is no deletion."""

import json
import shutil
from collections.abc import Generator, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, LockHeld
from recollectum.home.identity.host import this_host
from recollectum.home.locks import Lock
from recollectum.home.paths import Home, prepare
from recollectum.policy.clock import ClockReading
from recollectum.storage.shared import shared_lock
from recollectum.storage.shared.shared_lock import SharedLock
from recollectum.storage.tables.catalog import hosts
from recollectum.upkeep.doctor.examination import examine
from recollectum.upkeep.rounds.duties import UpkeepRuntime
from recollectum.upkeep.rounds.scheduler import duty
from recollectum.vault.purge.request import PurgeRequest, PurgeState, Receipt
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.plugins.postgres import PostgresDatabase

ANN = "user:ann"
SECOND = timedelta(seconds=1)
OTHER_TEXT = "Prefers tables to long paragraphs"


@dataclass
class Pair:
    """Two homes on one database, the second a copy of the first, and a folder of notes and one of transcripts."""

    one: Recollectum
    two: Recollectum
    clock: Turning
    notes: Path
    transcripts: Path

    @property
    def first(self) -> Vault:
        return self.one.vault(ANN)

    @property
    def second(self) -> Vault:
        return self.two.vault(ANN)

    @contextmanager
    def without(self, *folders: Path) -> Generator[None]:
        """The folders are on the first host alone: while the second one looks they are not there."""
        for folder in folders:
            folder.rename(folder.with_name(f"{folder.name}-away"))
        yield
        for folder in folders:
            folder.with_name(f"{folder.name}-away").rename(folder)


@pytest.fixture
def pair(tmp_path: Path, postgres: PostgresDatabase) -> Iterator[Pair]:
    clock = Turning()
    settings: dict[str, object] = {
        "storage.url": postgres.url(),
        **{f"{one}.debounce_seconds": 0.0 for one in ("notes", "learnings", "transcripts")},
    }
    notes, transcripts = tmp_path / "notes", tmp_path / "transcripts"
    notes.mkdir()
    transcripts.mkdir()
    (notes / "tea.md").write_text("Green tea is brewed at seventy degrees.\n")
    with open_home(tmp_path / "one", clock, settings=settings, encryption="auto") as made:
        made.vault(ANN).memories.save("the kettle is red")
    # Keys and everything else, with the id of the host.
    shutil.copytree(tmp_path / "one", tmp_path / "two")
    with ExitStack() as stack:
        one, two = (
            stack.enter_context(open_home(tmp_path / name, clock, settings=settings, encryption="auto"))
            for name in ("one", "two")
        )
        yield Pair(one, two, clock, notes, transcripts)


def learned(vault: Vault) -> list[str]:
    return sorted(one.text for one in vault.learnings.list())


def erase(vault: Vault, request: PurgeRequest) -> Receipt:
    return vault.privacy.purge.run(vault.privacy.purge.preview(request).token)


def watch(home: Recollectum, name: str) -> dict[str, int]:
    """What a daemon of this host does about one kind of files."""
    import threading

    upkeep = UpkeepRuntime(
        admin=home.admin, settings=home.settings, open_vault=home.vault, stop=threading.Event(), settling=timedelta()
    )
    return dict(duty(upkeep, name, SECOND).make(force=True).counts)


def found_by_doctor(home: Recollectum) -> list[str]:
    def clock_of(owner: object) -> ClockReading:
        return home.vault(str(owner)).admin.clock()

    return [one.words for one in examine(home.admin, clock_of, home.settings) if one.topic == "files"]


def test_a_copied_home_is_another_host_and_a_moved_one_is_not(tmp_path: Path) -> None:
    home = Home(tmp_path / "one")
    prepare(home)
    made = this_host(home)
    assert this_host(home) == made
    assert home.host_file.stat().st_mode & 0o777 == 0o600
    shutil.copytree(home.root, tmp_path / "two")
    assert this_host(Home(tmp_path / "two")).id != made.id
    home.root.rename(tmp_path / "three")
    moved = this_host(Home(tmp_path / "three"))
    assert moved.id == made.id
    assert moved.name.endswith(":" + str(tmp_path / "three"))
    (tmp_path / "three" / "host.json").write_text(json.dumps(["nonsense"]))
    assert this_host(Home(tmp_path / "three")).id != made.id


@pytest.mark.feature("G15")
def test_an_older_learnings_file_on_another_host_forgets_nothing(pair: Pair) -> None:
    first, second = pair.first, pair.second
    kept = first.learnings.save("Prefers short answers with one clear example", "preference")
    first.learnings.sync()
    older = first.learnings.file().read_text()
    first.learnings.save("Wants tests before the code", "preference")
    first.learnings.sync()
    # The second host has the file as it was, and then none at all.
    copy = second.learnings.file()
    assert copy != first.learnings.file()
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(older)
    other = this_host(pair.one.home).name
    assert second.learnings.sync().kept_by == other
    watch(pair.two, "learnings")
    second.sessions.open(channel="test")
    assert copy.read_text() == older
    copy.unlink()
    assert second.learnings.sync().kept_by == other
    assert not copy.exists()
    assert len(learned(first)) == 2
    # What the second host learns reaches the file of the first.
    second.learnings.save(OTHER_TEXT, "preference")
    assert first.learnings.sync().written
    assert OTHER_TEXT in first.learnings.file().read_text()
    assert kept.text in first.learnings.file().read_text()


@pytest.mark.feature("G15")
def test_a_host_that_takes_over_merges_its_older_file_and_forgets_and_revives_nothing(pair: Pair) -> None:
    first, second = pair.first, pair.second
    gone = first.learnings.save("Likes rhymes in commit messages", "pattern")
    first.learnings.save("Wants tests before the code", "preference")
    first.learnings.sync()
    older = first.learnings.file().read_text()
    first.learnings.save("Prefers short answers with one clear example", "preference")
    first.learnings.forget(gone.id)
    first.learnings.sync()
    before = learned(first)
    copy = second.learnings.file()
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(older.replace("Wants tests", f"{OTHER_TEXT}\n- Wants tests"))
    assert second.admin.file_hosts.find_other()
    assert second.admin.file_hosts.take() == this_host(pair.one.home).name
    assert second.admin.file_hosts.take() is None
    report = second.learnings.sync()
    assert (report.kept_by, report.added, report.forgotten) == (None, 1, 0)
    assert learned(first) == sorted([*before, OTHER_TEXT])
    assert gone.text not in copy.read_text()
    # From now on a line that is removed there is forgotten, and the first host passes by.
    copy.write_text("".join(line for line in copy.read_text().splitlines(keepends=True) if OTHER_TEXT not in line))
    assert second.learnings.sync().forgotten == 1
    assert learned(first) == before
    assert first.learnings.sync().kept_by == this_host(pair.two.home).name
    # Back again: the file of the first host lacks nothing that the vault has.
    first.admin.file_hosts.take()
    assert first.learnings.sync().forgotten == 0
    assert learned(first) == before


def test_notes_that_are_missing_on_another_host_stay_until_it_takes_over(pair: Pair) -> None:
    first, second = pair.first, pair.second
    first.admin.notes.add_folder(pair.notes)
    assert first.admin.notes.sync().added == 1
    (pair.notes / "tea.md").unlink()
    other = this_host(pair.one.home).name
    assert second.admin.notes.sync().kept_by == other
    with pair.without(pair.notes):
        assert second.admin.notes.sync().kept_by == other
    assert watch(pair.two, "notes")["vaults"] == 0
    second.recall("green tea")
    assert [one.path for one in second.admin.notes.list()] == ["tea.md"]
    with pytest.raises(Conflict, match="are kept by the host"):
        second.admin.notes.add_folder(pair.notes)
    with pytest.raises(Conflict, match="are kept by the host"):
        second.admin.transcripts.add(pair.transcripts)
    assert found_by_doctor(pair.one) == []
    (words,) = found_by_doctor(pair.two)
    assert other in words
    second.admin.file_hosts.take()
    (words,) = found_by_doctor(pair.one)
    assert this_host(pair.two.home).name in words
    assert watch(pair.one, "notes")["vaults"] == 0
    with pair.without(pair.notes):
        # A folder that is not there at all says nothing, on any host.
        assert second.admin.notes.sync().removed == 0
    assert second.admin.notes.sync().removed == 1


def test_the_first_host_that_has_the_files_keeps_them(pair: Pair) -> None:
    """A database from before hosts were recorded: the folder is followed, and nobody keeps it."""
    first, second = pair.first, pair.second
    first.admin.notes.add_folder(pair.notes)
    first.admin.notes.sync()
    pair.one.admin.catalog.write(lambda tx: tx.run("UPDATE vaults SET host = NULL", {}))
    with pair.without(pair.notes):
        assert second.admin.notes.sync().kept_by is None
        assert second.admin.transcripts.sync().kept_by is None
    assert pair.one.admin.entries()[0].host is None
    first.admin.notes.sync()
    assert pair.two.admin.entries()[0].host == this_host(pair.one.home).id
    listed = pair.two.admin.catalog.read(hosts.everything)
    assert [(one.name, one.vaults) for one in listed] == [(this_host(pair.one.home).name, 1)]


def test_transcripts_are_read_on_one_host_and_again_where_they_are_taken_over(pair: Pair) -> None:
    first, second = pair.first, pair.second
    path = pair.transcripts / "talk.jsonl"
    line = {"type": "user", "sessionId": "s1", "timestamp": "2026-03-01T12:00:00Z", "cwd": "/", "uuid": "u1"}
    line["message"] = {"role": "user", "content": "the boat leaves at noon"}  # pyright: ignore[reportArgumentType]
    path.write_text(json.dumps(line) + "\n")
    first.admin.transcripts.add(pair.transcripts)
    assert first.admin.transcripts.sync().added == 1
    path.write_text("")
    assert second.admin.transcripts.sync().kept_by == this_host(pair.one.home).name
    assert watch(pair.two, "transcripts")["vaults"] == 0
    second.admin.file_hosts.take()
    path.write_text(json.dumps(line) + "\n")
    report = second.admin.transcripts.sync()
    assert (report.kept_by, report.added) == (None, 0)
    assert first.admin.totals().messages == 1


def test_a_purge_says_which_host_still_has_the_line_and_the_next_sync_there_removes_it(pair: Pair) -> None:
    first, second = pair.first, pair.second
    told = first.learnings.save("Prefers short answers with one clear example", "preference")
    first.learnings.sync()
    receipt = erase(second, PurgeRequest.memories(told.id))
    assert receipt.state is PurgeState.DONE
    name = this_host(pair.one.home).name
    assert f"LEARNINGS.md on the host {name}, until it is synced there" in receipt.elsewhere
    assert told.text in first.learnings.file().read_text()
    assert first.learnings.sync().added == 0
    assert told.text not in first.learnings.file().read_text()
    assert learned(first) == []
    first.learnings.save(OTHER_TEXT, "preference")
    first.learnings.sync()
    person = erase(second, PurgeRequest.user())
    assert f"the owner's LEARNINGS.md and MEMORY.md on the host {name}, if there are any" in person.elsewhere


def test_one_host_at_a_time_purges_in_a_vault(pair: Pair, monkeypatch: pytest.MonkeyPatch) -> None:
    told = pair.first.memories.save("the safe is behind the picture").memory
    monkeypatch.setattr(shared_lock, "TIMEOUT", timedelta())
    name = f"purge-{pair.one.admin.entries()[0].id}"
    lock = SharedLock(Lock(pair.one.home.locks / f"{name}.lock"), name, pair.one.admin.catalog, pair.clock)
    with lock, pytest.raises(LockHeld, match="another host does the same work"):
        erase(pair.second, PurgeRequest.memories(told.id))
    assert pair.first.memories.get(told.id) == told
    assert erase(pair.second, PurgeRequest.memories(told.id)).state is PurgeState.DONE
