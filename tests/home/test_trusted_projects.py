"""Nothing in the folder of a project takes effect before the person trusts it."""

from pathlib import Path

import pytest

from recollectum.domain.errors import InvalidInput
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder
from recollectum.home.trusted_projects import find_trusted, is_trusted, set_trusted
from recollectum.settings.load import load
from tests.home.trusting import trust


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir()
    return Home(tmp_path / "home")


@pytest.fixture
def project(tmp_path: Path) -> ProjectFolder:
    (tmp_path / "work" / ".recollectum").mkdir(parents=True)
    (tmp_path / "work" / ".recollectum" / "settings.toml").write_text("[recall]\nlimit = 3\n")
    return ProjectFolder(tmp_path / "work")


@pytest.mark.feature("C14")
@pytest.mark.feature("C17")
def test_settings_of_a_project_wait_for_trust(home: Home, project: ProjectFolder) -> None:
    before = load(home, cwd=project.root, environ={})
    assert (before.settings.recall.limit, before.project, before.untrusted) == (10, None, project)
    assert find_trusted(project.root, home) is None
    trust(home, project.root)
    after = load(home, cwd=project.root, environ={})
    assert (after.settings.recall.limit, after.project, after.untrusted) == (3, project, None)
    assert find_trusted(project.root, home) == project
    assert set_trusted(home, project, None)
    assert not set_trusted(home, project, None)
    assert load(home, cwd=project.root, environ={}).project is None


def test_the_mistakes_of_a_project_that_is_not_trusted_stop_nothing(home: Home, project: ProjectFolder) -> None:
    project.settings_file.write_text("not toml")
    assert load(home, cwd=project.root, environ={}).untrusted == project


def test_the_file_names_no_folder_and_a_link_is_the_same_project(home: Home, project: ProjectFolder) -> None:
    trust(home, project.root)
    text = home.trusted_file.read_text()
    assert project.id in text
    assert str(project.root) not in text
    assert home.trusted_file.stat().st_mode & 0o777 == 0o600
    link = project.root.parent / "link"
    link.symlink_to(project.root)
    assert is_trusted(home, ProjectFolder(link))
    assert not is_trusted(home, ProjectFolder(project.root / ".recollectum"))


@pytest.mark.parametrize(
    "text", ["", "[]", "{", '{"version": 2, "trusted": {}}', '{"version": 1, "trusted": []}', "\0"]
)
def test_a_damaged_file_trusts_nothing_and_is_not_overwritten(home: Home, project: ProjectFolder, text: str) -> None:
    home.trusted_file.write_text(text)
    assert not is_trusted(home, project)
    with pytest.raises(InvalidInput, match="is damaged; delete it"):
        trust(home, project.root)
    assert home.trusted_file.read_text() == text
