"""Watching files for all vaults: what changes is taken over, and a vault that watches nothing stays closed."""

import threading
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.upkeep.rounds.duties import Duty, UpkeepRuntime
from recollectum.upkeep.rounds.scheduler import duty
from recollectum.upkeep.rounds.status import list_rounds
from recollectum.vault.vault import Vault
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.vault.transcript_files import append, lines, said

EVERY = timedelta(seconds=1)
SETTINGS = {"notes.debounce_seconds": 0.0, "learnings.debounce_seconds": 0.0, "transcripts.debounce_seconds": 0.0}


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def home(place: Path) -> Iterator[Recollectum]:
    settings = {**SETTINGS, "notes.on_search": "off", "transcripts.on_search": "off"}
    with open_home(place, Turning(), settings=settings) as opened:
        for person in ("user:ann", "user:ben"):
            opened.vault(person).memories.save("kept")
        yield opened


def watch(home: Recollectum, name: str, opened: list[str] | None = None) -> Duty:
    def door(owner: Owner) -> Vault:
        if opened is not None:
            opened.append(str(owner))
        return home.vault(owner)

    return duty(
        UpkeepRuntime(
            admin=home.admin, settings=home.settings, open_vault=door, stop=threading.Event(), settling=timedelta(0)
        ),
        name,
        EVERY,
    )


@pytest.mark.feature("G22")
def test_a_note_that_changes_is_found_and_one_that_rests_is_not_read(home: Recollectum, place: Path) -> None:
    folder = place / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("# Garden\nThe apples are ripe.\n")
    ann = home.vault("user:ann")
    ann.admin.notes.add_folder(folder)
    made = watch(home, "notes")
    assert made.make().counts["added"] == 1
    assert "added" not in made.make().counts
    (folder / "one.md").write_text("# Garden\nThe pears are ripe, and the quinces too.\n")
    assert made.make().counts["changed"] == 1
    assert ["quinces" in hit.text for hit in ann.recall("quinces")] == [True]


def test_a_folder_that_is_added_later_is_watched_from_then_on(home: Recollectum, place: Path) -> None:
    made = watch(home, "notes")
    assert made.make().counts == {"vaults": 2, "places": 0}
    folder = place / "notes"
    folder.mkdir()
    (folder / "one.md").write_text("The apples are ripe.\n")
    home.vault("user:ben").admin.notes.add_folder(folder)
    assert made.make().counts["added"] == 1


def test_a_vault_that_watches_nothing_is_not_opened_again_not_even_by_the_next_program(home: Recollectum) -> None:
    opened: list[str] = []
    made = watch(home, "notes", opened)
    made.make()
    assert opened == ["user:ann", "user:ben"]
    for _ in range(3):
        made.make()
    after_a_restart = watch(home, "notes", opened)
    after_a_restart.make()
    assert opened == ["user:ann", "user:ben"]
    home.vault("user:ben").memories.save("something new")
    after_a_restart.make()
    assert opened[2:] == ["user:ben"]


@pytest.mark.feature("G13")
def test_a_transcript_that_grows_is_followed(home: Recollectum, place: Path) -> None:
    path = append(place / "logs" / "one.jsonl", lines(range(3)))
    ann = home.vault("user:ann")
    ann.admin.transcripts.add(path.parent)
    made = watch(home, "transcripts")
    assert made.make().counts["messages"] == 3
    assert "messages" not in made.make().counts
    append(path, said(3))
    assert made.make().counts["messages"] == 1
    assert ann.admin.totals().messages == 4


@pytest.mark.feature("G14")
def test_a_learnings_file_that_somebody_edits_or_makes_is_taken_over(home: Recollectum) -> None:
    made = watch(home, "learnings")
    assert made.make().counts == {"vaults": 2, "places": 0}
    ann = home.vault("user:ann")
    ann.learnings.save("answers in French", "preference", agent="coder")
    ann.learnings.sync("coder")
    assert made.make().counts["files"] == 1
    file = ann.learnings.file("coder")
    file.write_text(file.read_text().replace("answers in French", "answers in German"))
    assert made.make().counts["files"] == 1
    assert [one.text for one in ann.learnings.list(agent="coder")] == ["answers in German"]


def test_a_vault_that_is_missing_does_not_stop_the_others(place: Path) -> None:
    with open_home(place, Turning()) as home:
        for person in ("ann", "ben"):
            folder = place / person
            folder.mkdir()
            (folder / "one.md").write_text(f"The apples of {person} are ripe.\n")
            home.vault(f"user:{person}").admin.notes.add_folder(folder)
        file = file_of(home, "user:ann")
    assert file
    file.rename(file.with_suffix(".away"))
    with open_home(place, Turning()) as home:
        assert watch(home, "notes").make().counts["added"] == 1
        broken = {one.owner: one.trouble for one in list_rounds(home) if one.trouble and one.owner}
        assert list(broken) == ["user:ann"]
        assert "is missing; restore it from a backup" in str(broken["user:ann"])
