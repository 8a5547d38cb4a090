"""Many at once on one vault: no write is lost, no caller hears that the database is locked."""

import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import FrameType

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.errors import StorageError
from recollectum.storage.port import Tx
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteOptions
from recollectum.storage.sqlite.files import HomeFiles
from recollectum.storage.tables.trail import meta
from tests.crashes.consistency import disagreements
from tests.crashes.contending import count_together, together
from tests.crashes.homes import only_vault, vault_files
from tests.crashes.standing import standing

pytestmark = pytest.mark.process


def test_four_processes_count_one_memory_up_and_lose_nothing(tmp_path: Path) -> None:
    home = tmp_path / "home"
    count = count_together(home, processes=4, times=400)
    assert count.final == 1600
    assert count.busy == 0
    # They did get in one another's way, or this would show nothing.
    assert count.conflicts > 0
    with only_vault(home) as database:
        assert disagreements(database) == []


def test_four_processes_add_to_one_session_without_gaps_or_doubles(tmp_path: Path) -> None:
    home = tmp_path / "home"
    told = together("append", home, processes=4, times=100)
    assert [one["busy"] for one in told] == [0] * 4
    with Recollectum(home) as r:
        chat = r.vault("user:ann").sessions.open(channel="test", agent="main")
        said = chat.transcript(limit=1000)
    assert [message.position for message in said] == list(range(1, 401))
    assert {message.content for message in said} == {f"p{p} says {number}" for p in range(4) for number in range(100)}
    with only_vault(home) as database:
        assert disagreements(database) == []


@pytest.mark.parametrize("attempt", range(3))
def test_processes_that_make_a_home_and_a_vault_at_once_share_them(tmp_path: Path, attempt: int) -> None:
    home = tmp_path / "home"
    told = together("found", home, processes=4, times=5)
    with Recollectum(home) as r:
        assert [str(owner) for owner in r.list_owners()] == ["user:ann"]
        kept = {memory.id for memory in r.vault("user:ann").memories.list()}
        assert kept == {saved for one in told for saved in _texts(one["saved"])}
        assert len(kept) == 20
    assert len(vault_files(home)) == 1


def test_a_vault_that_another_process_made_first_is_used_though_others_read_the_keys(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home") as first, Recollectum(tmp_path / "home") as second:
        first.vault("user:ann")
        reader = connect(HomeFiles(first.home).keys)
        # A reader keeps the log of the keys from being emptied.
        reader.execute("BEGIN; SELECT count(*) FROM sqlite_schema")
        made = second._runtime.make_vault(Owner.parse("user:ann"))  # pyright: ignore[reportPrivateUsage]  # the race
        assert [made.id] == [path.stem for path in vault_files(tmp_path / "home")]
        reader.close()


def _texts(value: object) -> list[str]:
    assert isinstance(value, list)
    return [str(one) for one in value]  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def test_threads_that_share_a_vault_all_get_their_own_answer(tmp_path: Path) -> None:
    saved: list[str] = []
    with Recollectum(tmp_path / "home") as r:
        vault = r.vault("user:ann")

        def work(number: int) -> None:
            for turn in range(20):
                text = f"thread {number} was here for the turn {turn}"
                memory = vault.memories.save(text).memory
                assert memory.content == text
                saved.append(memory.id)

        in_threads(8, work)
        assert len(set(saved)) == 160
        assert {memory.id for memory in vault.memories.list(limit=1000)} == set(saved)
        assert vault.admin.index.verify().sound


def test_the_failure_of_one_undoes_nothing_of_those_it_shares_a_commit_with(tmp_path: Path) -> None:
    answers: dict[int, str] = {}
    with standing(tmp_path / "vault.db", SqliteOptions()) as at:
        entered, go = threading.Event(), threading.Event()

        def hold(tx: Tx) -> None:
            entered.set()
            assert go.wait(60)

        def work(number: int) -> None:
            def change(tx: Tx) -> str:
                meta.save(tx, f"job {number}", "done")
                if number % 3 == 0:
                    raise StorageError(f"job {number} failed")
                return f"answer {number}"

            try:
                answers[number] = at.database.write(change)
            except StorageError as error:
                answers[number] = str(error)

        # The others arrive while this one writes, and so share the next commit.
        first = threading.Thread(target=lambda: at.database.write(hold))
        first.start()
        assert entered.wait(60)
        in_threads(30, work, started=go.set)
        first.join()
        assert answers == {n: f"job {n} failed" if n % 3 == 0 else f"answer {n}" for n in range(30)}
        kept = at.database.read(lambda tx: {n for n in range(30) if meta.find(tx, f"job {n}")})
    assert kept == {n for n in range(30) if n % 3}


def test_more_callers_than_one_commit_takes_are_each_answered_when_their_own_is_written(tmp_path: Path) -> None:
    answers: dict[int, int | None] = {}
    with standing(tmp_path / "vault.db", SqliteOptions()) as at:
        for turn in range(5):
            answers.clear()

            def work(number: int) -> None:
                answers[number] = at.database.write(lambda tx: number)

            in_threads(200, work)
            assert answers == {number: number for number in range(200)}, f"turn {turn}"


def test_a_reader_that_a_close_overtakes_is_told_so_and_does_not_wait_for_ever(tmp_path: Path) -> None:
    ends: list[str] = []
    with standing(tmp_path / "vault.db", SqliteOptions(readers=1)) as at:

        def close_first(frame: FrameType, event: str, argument: object) -> None:
            # The reader has seen an open vault and is about to ask for its turn.
            if event == "call" and frame.f_code.co_name == "acquire":
                sys.setprofile(None)
                at.database.close()

        def work() -> None:
            sys.setprofile(close_first)
            try:
                at.database.read(lambda tx: meta.find(tx, "clock"))
            except StorageError as error:
                ends.append(str(error))

        reader = threading.Thread(target=work, daemon=True)
        reader.start()
        reader.join(60)
        assert len(ends) == 1, "it is still waiting"
        assert "was closed" in ends[0]


def test_a_bounded_number_of_vaults_is_open_and_every_handle_goes_on_working(tmp_path: Path) -> None:
    home = tmp_path / "home"
    with Recollectum(home, settings={"storage.open_vaults": 2}) as r:
        vaults = {number: r.vault(f"user:person{number}") for number in range(6)}
        for turn in range(3):
            for number, vault in vaults.items():
                vault.memories.save(f"person {number} has turn {turn}")
                # An open vault has a log beside it; a closed one has not.
                assert len(list(r.home.vaults.glob("*-wal"))) <= 2
        for number, vault in vaults.items():
            assert {memory.content for memory in vault.memories.list()} == {
                f"person {number} has turn {turn}" for turn in range(3)
            }


@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_the_vaults_of_a_closed_home_are_closed_and_stay_so(tmp_path: Path, encryption: str) -> None:
    with Recollectum(tmp_path / "home", settings={"encryption": encryption}) as r:
        vault = r.vault("user:ann")
        vault.memories.save("while it was open")
    with pytest.raises(StorageError, match="was closed"):
        vault.memories.list()
    assert not list((tmp_path / "home").rglob("*-wal"))


def in_threads(number: int, work: Callable[[int], None], *, started: Callable[[], None] = lambda: None) -> None:
    """Run the work in that many threads at once and wait for all of them; their failures are this test's."""
    failures: list[BaseException] = []
    begin = threading.Barrier(number)

    def run(at: int) -> None:
        begin.wait()
        try:
            work(at)
        except BaseException as error:  # noqa: BLE001  (raised again where the test sees it)
            failures.append(error)

    threads = [threading.Thread(target=run, args=(at,)) for at in range(number)]
    for thread in threads:
        thread.start()
    started()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]
