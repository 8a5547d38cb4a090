"""Rounds of upkeep: what is due is done, what is not stays closed, and what fails stops nothing else."""

import threading
from collections.abc import Iterable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.upkeep.rounds.duties import UpkeepRuntime, VaultDuty
from recollectum.upkeep.rounds.scheduler import NAMES, duty, intervals
from recollectum.upkeep.rounds.status import RoundStatus, list_rounds
from recollectum.upkeep.rounds.tasks import RoundContext, RoundResult
from recollectum.vault.vault import Vault
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home, quick_folder

EVERY = timedelta(minutes=1)
IDLE = timedelta(minutes=30)
PEOPLE = ("user:ann", "user:ben", "user:cay")


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def clock() -> Turning:
    return Turning()


@pytest.fixture
def home(place: Path, clock: Turning) -> Iterator[Recollectum]:
    with open_home(place, clock) as opened:
        for person in PEOPLE:
            opened.vault(person).memories.save(f"{person} likes tea")
        yield opened


class Doors:
    """Opens vaults, and remembers which."""

    def __init__(self, home: Recollectum) -> None:
        self._home = home
        self.opened: list[str] = []

    def __call__(self, owner: Owner) -> Vault:
        self.opened.append(str(owner))
        return self._home.vault(owner)

    def taken(self) -> list[str]:
        """Which were opened since the last time."""
        opened, self.opened = self.opened, []
        return opened


def upkeep_of(home: Recollectum, doors: Doors) -> UpkeepRuntime:
    return UpkeepRuntime(
        admin=home.admin, settings=home.settings, open_vault=doors, stop=threading.Event(), settling=timedelta(0)
    )


def settled(home: Recollectum, clock: Turning, name: str) -> tuple[VaultDuty, Doors]:
    """A round that has been made, with no vault left that has anything new."""
    doors = Doors(home)
    made = duty(upkeep_of(home, doors), name, EVERY)
    assert isinstance(made, VaultDuty)
    made.make()
    assert doors.taken() == list(PEOPLE)
    clock.turn(EVERY)
    return made, doors


def of(home: Recollectum, name: str, owner: str | None = None) -> RoundStatus:
    return next(one for one in list_rounds(home) if (one.name, one.owner) == (name, owner))


@pytest.mark.parametrize("name", ["consolidation", "summaries", "retention"])
def test_a_vault_with_nothing_due_is_not_opened(home: Recollectum, clock: Turning, name: str) -> None:
    made, doors = settled(home, clock, name)
    for _ in range(5):
        assert made.make().counts == {"vaults": 0}
        clock.turn(EVERY)
    assert doors.taken() == []
    home.vault("user:ben").memories.save("and coffee")
    made.make()
    assert doors.taken() == ["user:ben"]


@pytest.mark.parametrize("name", ["notes", "transcripts"])
def test_a_round_that_watches_asks_for_the_marks_of_all_vaults_at_once(
    home: Recollectum, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    doors = Doors(home)
    made = duty(upkeep_of(home, doors), name, EVERY)
    made.make()
    doors.taken()
    asked: list[list[str]] = []
    look_up = home.admin.engine.write_marks

    def write_marks(vault_ids: Iterable[str], settling: timedelta) -> dict[str, str]:
        asked.append([*vault_ids])
        return look_up(asked[-1], settling)

    monkeypatch.setattr(home.admin.engine, "write_marks", write_marks)
    made.make()
    assert [len(one) for one in asked] == [len(PEOPLE)]
    assert doors.taken() == []


def test_a_conversation_that_falls_silent_is_read_and_others_stay_closed(home: Recollectum, clock: Turning) -> None:
    made, doors = settled(home, clock, "consolidation")
    home.vault("user:ben").sessions.open(channel="telegram").add("user", "I drink green tea every morning")
    assert made.make().counts["waiting"] == 1
    clock.turn(IDLE)
    doors.taken()
    assert made.make().counts["read"] == 1
    assert doors.taken() == ["user:ben"]
    (run,) = home.vault("user:ben").admin.consolidation.list_runs()
    assert run.through_position == 1
    clock.turn(EVERY)
    assert made.make().counts["vaults"] == 0


def test_a_memory_whose_time_is_over_is_taken_when_it_is_and_not_looked_for_before(
    home: Recollectum, clock: Turning
) -> None:
    ben = home.vault("user:ben")
    kept = ben.memories.save("for an hour", ttl=timedelta(hours=1)).memory
    made, doors = settled(home, clock, "retention")
    clock.turn(timedelta(minutes=30))
    made.make()
    assert doors.taken() == []
    clock.turn(timedelta(minutes=31))
    assert made.make().counts["deleted"] == 1
    assert doors.taken() == ["user:ben"]
    assert [memory.id for memory in ben.privacy.trash.list()] == [kept.id]


def test_a_damaged_vault_keeps_no_other_from_its_round_and_is_tried_later_and_later(place: Path) -> None:
    clock = Turning()
    with open_home(place, clock) as home:
        for person in PEOPLE:
            home.vault(person).memories.save("kept")
        file = file_of(home, "user:ben")
    assert file
    sound = file.read_bytes()
    file.write_bytes(b"not a database at all" * 1000)
    with open_home(place, clock) as home:
        doors = Doors(home)
        made = duty(upkeep_of(home, doors), "summaries", EVERY)
        assert made.make().counts["vaults"] == 3
        waits: list[timedelta] = []
        for failures in range(1, 5):
            broken = of(home, "summaries", "user:ben")
            assert broken.failures == failures
            assert broken.trouble
            assert broken.next_run
            waits.append(broken.next_run - clock.now)
            assert of(home, "summaries").trouble == "1 vault could not be maintained, and will be tried again"
            assert of(home, "summaries", "user:ann").trouble is None
            doors.taken()
            clock.turn(waits[-1] - timedelta(seconds=1))
            made.make()
            assert "user:ben" not in doors.taken()
            clock.turn(timedelta(seconds=1))
            made.make()
        assert waits == sorted(set(waits))
    file.write_bytes(sound)
    clock.turn(timedelta(hours=1))
    with open_home(place, clock) as home:
        duty(upkeep_of(home, Doors(home)), "summaries", EVERY).make()
        assert of(home, "summaries", "user:ben").trouble is None
        assert of(home, "summaries").trouble is None


def test_a_fault_of_ours_is_named_and_says_nothing_of_content(home: Recollectum) -> None:
    def work(vault: Vault, _: RoundContext) -> RoundResult:
        if str(vault.owner) == "user:ann":
            raise ValueError("what somebody said")
        return RoundResult(counts={"done": 1})

    made = VaultDuty(upkeep_of(home, Doors(home)), "summaries", EVERY, work).make()
    assert made.counts["done"] == 2
    said = of(home, "summaries", "user:ann").trouble
    assert said == "it ended with an unexpected ValueError; please report it"


def test_what_a_round_did_is_known_to_the_next_program(place: Path, clock: Turning) -> None:
    with open_home(place, clock) as home:
        home.vault("user:ann").memories.save("kept")
        assert [one.last_run for one in list_rounds(home)] == [None] * len(NAMES)
        made = duty(upkeep_of(home, Doors(home)), "retention", EVERY).make()
    clock.turn(timedelta(seconds=30))
    with open_home(place, clock) as home:
        whole, ann = of(home, "retention"), of(home, "retention", "user:ann")
        assert whole.last_run == made.started_at
        assert ann.next_run
        doors = Doors(home)
        duty(upkeep_of(home, doors), "retention", EVERY).make()
        assert doors.taken() == []


def test_the_rows_of_a_vault_go_with_it(home: Recollectum) -> None:
    duty(upkeep_of(home, Doors(home)), "retention", EVERY).make()
    assert of(home, "retention", "user:ben")
    home.admin.catalog.write(lambda tx: tx.run("DELETE FROM vaults WHERE owner = :owner", {"owner": "user:ben"}))
    assert {one.owner for one in list_rounds(home) if one.last_run} == {None, "user:ann", "user:cay"}


def test_a_backup_is_made_when_its_time_has_come_and_not_again_after_a_restart(place: Path, clock: Turning) -> None:
    day = timedelta(days=1)
    for made, turned in ((1, timedelta(hours=5)), (1, timedelta(hours=20)), (2, timedelta(0))):
        with open_home(place, clock, settings={"daemon.backup_hours": 24}) as home:
            home.vault("user:ann").memories.save("kept")
            row = duty(upkeep_of(home, Doors(home)), "backup", day).make()
            assert row.counts["vaults"] == 1
            assert len(list(home.home.backups.glob("recollectum-*"))) == made
        clock.turn(turned)


def test_a_round_stops_at_once_when_the_program_ends(home: Recollectum) -> None:
    doors = Doors(home)
    upkeep = upkeep_of(home, doors)
    upkeep.stop.set()
    for name in ("retention", "notes"):
        duty(upkeep, name, EVERY).make()
    assert doors.taken() == []


def test_a_vault_that_was_written_to_a_moment_ago_is_looked_at_again(home: Recollectum, clock: Turning) -> None:
    # What stands in its log may become visible without any further change of the file.
    doors = Doors(home)
    upkeep = UpkeepRuntime(admin=home.admin, settings=home.settings, open_vault=doors, stop=threading.Event())
    made = duty(upkeep, "retention", EVERY)
    for _ in range(3):
        made.make()
        assert doors.taken() == list(PEOPLE)
        clock.turn(EVERY)


@pytest.mark.feature("C15")
def test_tasks_are_swept_by_age_though_nobody_writes_to_the_vault(place: Path, clock: Turning) -> None:
    day = timedelta(days=1)
    with open_home(place, clock, settings={"tasks.keep_days": 30}) as home:
        ann, ben = home.vault("user:ann"), home.vault("user:ben")
        ann.memories.save("has no tasks")
        made = duty(upkeep_of(home, Doors(home)), "tasks", day)
        made.make()
        # Without a task nothing is made for the store, and nothing is asked of it.
        assert not (home.home.root / "tasks").exists()
        ben.tasks.save("old", {"n": 1})
        clock.turn(29 * day)
        ben.tasks.save("young", {"n": 2})
        assert made.make().counts["tasks"] == 0
        clock.turn(2 * day)
        assert made.make().counts["tasks"] == 1
        assert [one.id for one in ben.tasks.list()] == ["young"]
        assert of(home, "tasks").trouble is None


def test_a_period_of_zero_leaves_tasks_to_the_person(place: Path, clock: Turning) -> None:
    with open_home(place, clock, settings={"tasks.retention_hours": 0}) as home:
        assert intervals(home.settings)["tasks"] is None
    with open_home(place, clock) as home:
        assert intervals(home.settings)["tasks"] == timedelta(days=1)
