"""Projects: one id for every spelling of a folder, unique names, moves without loss, and forgetting with a preview."""

import hashlib
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.files.project import name_for
from recollectum.home.project import project_id
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning


@pytest.fixture
def work(tmp_path: Path) -> Path:
    """A folder with two projects."""
    for name in ("blue", "red"):
        (tmp_path / "work" / name / "src").mkdir(parents=True)
    return tmp_path / "work"


@pytest.mark.feature("C14")
def test_a_project_is_the_hash_of_its_resolved_root_however_it_is_written(vault: Vault, work: Path) -> None:
    link = work.parent / "link"
    link.symlink_to(work / "blue")
    made = vault.projects.add(str(work / "blue"))
    assert made.id == hashlib.sha256(str((work / "blue").resolve()).encode()).hexdigest()
    assert made.name == "blue"
    for spelling in (link, f"{work}/blue/", work / "red" / ".." / "blue"):
        assert vault.projects.add(str(spelling)) == made
    # A folder below belongs to it, and so do its name and its id.
    assert vault.projects.find(str(work / "blue" / "src")) == made
    assert vault.projects.find("blue") == vault.projects.find(made.id) == made
    assert vault.projects.find(str(work / "red")) is None


@pytest.mark.feature("C14")
def test_a_system_that_ignores_case_has_one_id_for_every_spelling(tmp_path: Path) -> None:
    ids = {project_id(tmp_path / name, lambda _: True) for name in ("Straße", "STRASSE", "strasse")}
    assert len(ids) == 1
    assert len({project_id(tmp_path / name, lambda _: False) for name in ("Work", "work")}) == 2
    assert project_id(tmp_path / "e\N{COMBINING ACUTE ACCENT}", lambda _: True) == project_id(
        tmp_path / "É", lambda _: True
    )


@pytest.mark.parametrize(
    ("folder", "name"),
    [("My App", "my-app"), ("Über.Web", "uber-web"), ("日本", "project"), ("-", "project"), ("a" * 64, "a" * 56)],
)
def test_a_name_comes_from_the_folder(folder: str, name: str) -> None:
    assert name_for(folder, ()) == name
    assert name_for(folder, {name}) == f"{name}-2"
    assert name_for(folder, {name, f"{name}-2"}) == f"{name}-3"


def test_names_are_unique_and_can_be_changed(vault: Vault, work: Path) -> None:
    (work / "other" / "blue").mkdir(parents=True)
    first, second = vault.projects.add(str(work / "blue")), vault.projects.add(str(work / "other" / "blue"))
    assert (first.name, second.name) == ("blue", "blue-2")
    with pytest.raises(InvalidInput, match="'blue' belongs to another project"):
        vault.projects.rename("blue-2", "blue")
    renamed = vault.projects.rename("blue-2", "sea")
    assert (renamed.id, renamed.name) == (second.id, "sea")
    with pytest.raises(NotFound, match="there is no project 'blue-2'"):
        vault.projects.get("blue-2")
    with pytest.raises(InvalidInput, match="'sea' belongs to another project"):
        vault.projects.add(str(work / "red"), name="sea")
    assert [one.project.name for one in vault.projects.list()] == ["blue", "sea"]


@pytest.mark.parametrize("name", ["", "Blue", "a b", "-a", "a/b", "x" * 65, "0" * 64, "é"])
def test_a_name_that_could_be_a_path_or_an_id_is_refused(vault: Vault, work: Path, name: str) -> None:
    with pytest.raises(InvalidInput):
        vault.projects.add(str(work / "blue"), name=name)
    assert vault.projects.list() == []


@pytest.mark.parametrize("folder", ["", " ", "relative/path", "./x", "a\0b", "/no/such/folder", "blue"])
def test_what_is_no_folder_is_refused_in_one_sentence(vault: Vault, folder: str) -> None:
    with pytest.raises(InvalidInput) as found:
        vault.projects.add(folder)
    assert "\n" not in str(found.value)
    assert vault.projects.list() == []


@pytest.mark.feature("C14")
def test_a_moved_project_keeps_everything(vault: Vault, work: Path, clock: Turning) -> None:
    old = vault.memories.save("the blue build is slow", project=str(work / "blue"), key="build").memory
    clock.turn(timedelta(seconds=1))
    (work / "blue").rename(work / "navy")
    # Work went on at the new place before anybody said that it is the same project.
    new = vault.memories.save("the navy tests are fast", project=str(work / "navy")).memory
    assert old.project != new.project
    moved = vault.projects.add_root("blue", str(work / "navy"))
    assert (moved.id, moved.name, moved.root) == (old.project, "blue", str((work / "navy").resolve()))
    assert {*moved.ids} == {old.project, new.project}
    (listed,) = vault.projects.list()
    assert listed.counts.memories == 2
    assert vault.projects.find(str(work / "navy" / "src")) == vault.projects.find(str(work / "blue")) == moved
    # What is saved from now on, has the id of the project, and its keys hold.
    again = vault.memories.save("the navy build is quick", project=str(work / "navy"), key="build")
    assert (again.memory.id, again.memory.project, again.outcome) == (old.id, old.project, "changed")


def test_two_projects_may_use_one_key_and_the_same_words(vault: Vault, work: Path) -> None:
    drafts = [
        Draft(content="make test", key="run_tests", project=place)
        for place in (str(work / "blue"), str(work / "red"), None)
    ]
    one, two, own = vault.memories.save_many(drafts)
    assert len({one.id, two.id, own.id}) == 3
    assert vault.memories.save("make test", project="red").id == two.id
    assert vault.memories.save("make test").id == own.id
    assert vault.memories.save("make check", key="run_tests", project="blue").id == one.id
    assert [vault.memories.find("run_tests", project=name) for name in ("red", None)] == [two.memory, own.memory]


def test_an_unknown_name_saves_nothing(vault: Vault) -> None:
    with pytest.raises(NotFound, match="there is no project 'green' in this vault"):
        vault.memories.save("it is green", project="green")
    assert not vault.memories.list()


@pytest.mark.feature("C14")
def test_a_forgotten_project_is_previewed_and_comes_back(vault: Vault, work: Path) -> None:
    saved = vault.memories.save("the blue build is slow", project=str(work / "blue")).memory
    own = vault.memories.save("I like tea").memory
    seen = vault.projects.preview("blue")
    assert (seen.memories, seen.sessions) == (1, 0)
    assert vault.projects.list()[0].counts.memories == 1
    assert vault.projects.forget("blue") == seen
    assert vault.projects.list() == []
    assert [one.id for one in vault.memories.list()] == [own.id]
    assert [one.id for one in vault.privacy.trash.list()] == [saved.id]
    restored = vault.memories.move(saved.id, "active")
    assert restored.project == saved.project
    # The folder is used again: the same project, under a name again.
    assert vault.projects.add(str(work / "blue")).id == saved.project
    assert vault.projects.get("blue").counts.memories == 1


def test_an_edit_a_successor_and_an_undo_keep_the_project(vault: Vault, work: Path) -> None:
    saved = vault.memories.save("blue uses tabs", project=str(work / "blue"), key="indent").memory
    edited = vault.memories.edit(saved.id, "blue uses two spaces")
    assert edited.project == saved.project
    assert vault.privacy.undo.last(1)
    assert vault.memories.get(saved.id).project == saved.project
    assert vault.memories.supersede(saved.id, "blue uses four spaces").project == saved.project
    assert vault.memories.find("indent") is None


def test_a_caller_who_is_not_the_operator_learns_nothing_of_our_folders(home: Recollectum, work: Path) -> None:
    person = home.as_person("user:alice").vault("user:alice")
    link = work / "link"
    link.symlink_to(work / "blue")
    assert person.projects.add(str(link)).root == str(link)
    assert person.projects.add("/no/such/folder").root == "/no/such/folder"
