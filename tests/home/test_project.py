"""Projects: found from below, put over the home, and not able to lead out of themselves."""

import hashlib
import os
from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder, find_project, overrides


@pytest.fixture
def home(tmp_path: Path) -> Home:
    root = tmp_path / "account" / ".recollectum"
    root.mkdir(parents=True)
    return Home(root)


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    root = tmp_path / "account" / "work"
    (root / ".recollectum").mkdir(parents=True)
    return ProjectFolder(root)


def put(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.mark.feature("C17")
def test_the_nearest_folder_above_with_a_recollectum_folder_is_the_project(home: Home, project: ProjectFolder) -> None:
    deep = project.root / "src" / "deep"
    deep.mkdir(parents=True)
    assert find_project(deep, home) == project
    (project.root / "src" / ".recollectum").mkdir()
    assert find_project(deep, home) == ProjectFolder(project.root / "src")


def test_the_home_is_never_a_project(home: Home, tmp_path: Path) -> None:
    below = home.root.parent / "elsewhere"
    below.mkdir()
    assert find_project(below, home) is None
    assert find_project(home.root, home) is None
    link = tmp_path / "link"
    link.symlink_to(home.root)
    assert find_project(below, Home(link)) is None


@pytest.mark.parametrize("mark", ["locks", "backups", "vaults/x"])
def test_a_home_that_is_not_in_use_is_no_project_either(home: Home, tmp_path: Path, mark: str) -> None:
    put(home.root / mark)
    assert find_project(home.root.parent, Home(tmp_path / "another")) is None


def test_a_file_of_that_name_is_no_project(home: Home, tmp_path: Path) -> None:
    put(tmp_path / "x" / ".recollectum")
    assert find_project(tmp_path / "x", home) is None


def test_a_folder_that_a_stranger_made_is_no_project(home: Home, project: ProjectFolder) -> None:
    folder = project.root / ".recollectum"
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
    owner = folder.stat().st_uid
    assert find_project(project.root, home, account=owner) == project
    assert find_project(project.root, home, account=owner + 1) is None


def test_a_project_has_a_key_that_does_not_say_where_it_is(project: ProjectFolder, tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to(project.root)
    assert project.id == ProjectFolder(link).id == hashlib.sha256(str(project.root).encode()).hexdigest()


@pytest.mark.feature("C17")
@pytest.mark.parametrize("folder", ["policies", "commands", "skills", "agents", "extensions"])
def test_an_entry_of_the_project_replaces_the_one_of_the_home(home: Home, project: ProjectFolder, folder: str) -> None:
    put(home.folder(folder) / "a.toml")
    put(home.folder(folder) / "b.toml")
    put(home.folder(folder) / ".hidden")
    put(project.folder(folder) / "b.toml")
    put(project.folder(folder) / "c" / "inside.md")
    assert overrides(home, project, folder) == {
        "a.toml": home.folder(folder) / "a.toml",
        "b.toml": project.folder(folder) / "b.toml",
        "c": project.folder(folder) / "c",
    }
    assert overrides(home, None, folder).keys() == {"a.toml", "b.toml"}


def test_folders_that_are_not_there_hold_nothing(home: Home, project: ProjectFolder) -> None:
    assert overrides(home, project, "skills") == {}


def test_a_folder_that_is_none_of_a_home_is_refused(home: Home, project: ProjectFolder) -> None:
    for name in ("vaults", "../../x", ""):
        with pytest.raises(InvalidInput, match="is not a folder of a home or project"):
            overrides(home, project, name)


@pytest.mark.feature("C17")
def test_links_that_lead_out_of_a_project_are_refused_in_words(
    home: Home, project: ProjectFolder, tmp_path: Path
) -> None:
    secret = put(tmp_path / "account" / "secret")
    skills = project.folder("skills")
    skills.mkdir()
    for name, target in (("link", secret), ("climb", Path("../../../secret")), ("sibling", tmp_path / "account")):
        link = skills / name
        link.symlink_to(target)
        with pytest.raises(InvalidInput, match=f"{name} leads outside the project"):
            overrides(home, project, "skills")
        link.unlink()


def test_a_link_inside_an_entry_and_the_folder_itself_are_looked_at_too(
    home: Home, project: ProjectFolder, tmp_path: Path
) -> None:
    secret = put(tmp_path / "secrets" / "one")
    inner = put(project.folder("skills") / "good" / "deep" / "SKILL.md").parent / "out"
    inner.symlink_to(secret)
    with pytest.raises(InvalidInput, match="deep/out leads out"):
        overrides(home, project, "skills")
    project.folder("agents").symlink_to(secret.parent)
    with pytest.raises(InvalidInput, match="agents leads out"):
        overrides(home, project, "agents")


def test_a_link_to_a_folder_within_the_project_hides_nothing(
    home: Home, project: ProjectFolder, tmp_path: Path
) -> None:
    put(project.root / "stuff" / "a")
    (project.root / "stuff" / "out").symlink_to(tmp_path)
    put(project.folder("skills") / "good" / "SKILL.md").with_name("more").symlink_to(project.root / "stuff")
    with pytest.raises(InvalidInput, match="is a link to a folder"):
        overrides(home, project, "skills")


def test_links_that_stay_in_the_project_and_any_in_the_home_are_used(
    home: Home, project: ProjectFolder, tmp_path: Path
) -> None:
    put(project.root / "shared.md")
    project.folder("commands").mkdir()
    (project.folder("commands") / "mine.md").symlink_to("../../shared.md")
    put(home.folder("commands") / "x").with_name("y").symlink_to(put(tmp_path / "dotfiles" / "y"))
    assert overrides(home, project, "commands").keys() == {"mine.md", "x", "y"}


def test_what_is_no_file_is_refused(home: Home, project: ProjectFolder) -> None:
    project.folder("agents").mkdir()
    os.mkfifo(project.folder("agents") / "pipe")
    with pytest.raises(InvalidInput, match="pipe is neither a file nor a folder"):
        overrides(home, project, "agents")
