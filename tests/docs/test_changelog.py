"""The changelog has a section for each version and a place for the next change, and its form is always the same."""

import re
import tomllib
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools.release import NotReady, as_numbers, check, prepare, released_versions

#: The parts of a section, in the words of Keep a Changelog.
PARTS = ("Added", "Changed", "Deprecated", "Removed", "Fixed", "Security")
BEFORE = "# Changelog\n\n## Unreleased\n\n### Added\n\n- Tea.\n"
PROJECT = '[project]\nname = "x"\nversion = "0.1.0"\n'


def faults(text: str) -> list[str]:
    """What is not as it should be in a changelog."""
    head, *sections = re.split(r"^## ", text, flags=re.MULTILINE)
    found = [] if head.startswith("# Changelog\n") else ["it does not begin with its title"]
    if not sections or sections[0].split("\n")[0] != "Unreleased":
        found.append("the first section is not Unreleased")
    versions = [as_numbers(one) for one in released_versions(text)]
    if versions != sorted(set(versions), reverse=True):
        found.append("the versions do not go down")
    for section in sections:
        heading, *lines = section.split("\n")
        parts = [line.removeprefix("### ") for line in lines if line.startswith("### ")]
        found += [f"{heading}: {part} is no part" for part in parts if part not in PARTS]
        found += [f"{heading}: {part} is there twice" for part in set(parts) if parts.count(part) > 1]
        found += [f"{heading}: {line[:40]}" for line in lines if line and not line.startswith(("- ", "  ", "### "))]
    return found


def test_the_changelog_has_its_form() -> None:
    assert faults((ROOT / "CHANGELOG.md").read_text(encoding="utf-8")) == []


def test_the_version_of_the_project_is_the_newest_or_the_next() -> None:
    released = released_versions((ROOT / "CHANGELOG.md").read_text(encoding="utf-8"))
    version = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
    assert all(as_numbers(version) >= as_numbers(one) for one in released)


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("## Unreleased\n", "it does not begin with its title"),
        ("# Changelog\n\n## 0.1.0 - 2026-12-01\n", "the first section is not Unreleased"),
        (BEFORE + "\n## 0.1.0 - 2026-12-01\n\n## 0.2.0 - 2026-12-02\n", "the versions do not go down"),
        (BEFORE + "\n### News\n", "Unreleased: News is no part"),
        (BEFORE + "\n### Added\n", "Unreleased: Added is there twice"),
        (BEFORE + "Coffee.\n", "Unreleased: Coffee."),
    ],
)
def test_a_fault_is_seen(text: str, fault: str) -> None:
    assert fault in faults(text)


def _project(folder: Path, changelog: str = BEFORE) -> Path:
    (folder / "CHANGELOG.md").write_text(changelog)
    (folder / "pyproject.toml").write_text(PROJECT)
    return folder


def test_a_version_is_prepared_and_then_accepted(tmp_path: Path) -> None:
    root = _project(tmp_path)
    with pytest.raises(NotReady, match=r"no section 0\.1\.0; run: python -m tools\.release prepare 0\.1\.0"):
        check(root, "v0.1.0")
    prepare(root, "0.1.0", "2026-12-01")
    text = (root / "CHANGELOG.md").read_text()
    assert "## Unreleased\n\n## 0.1.0 - 2026-12-01\n\n### Added\n\n- Tea.\n" in text
    assert faults(text) == []
    check(root, "v0.1.0")
    with pytest.raises(NotReady, match="nothing to publish"):
        prepare(root, "0.2.0", "2026-12-02")
    (root / "CHANGELOG.md").write_text(text.replace("## Unreleased\n", "## Unreleased\n\n### Fixed\n\n- Milk.\n"))
    prepare(root, "0.2.0", "2026-12-02")
    assert 'version = "0.2.0"' in (root / "pyproject.toml").read_text()
    check(root, "v0.2.0")


def test_what_is_not_ready_is_refused_and_nothing_is_changed(tmp_path: Path) -> None:
    root = _project(tmp_path, BEFORE + "\n## 0.3.0 - 2026-12-01\n")
    for version, said in (("0.3", "not a version"), ("0.3.0", "not above the last version, 0.3.0")):
        with pytest.raises(NotReady, match=said):
            prepare(root, version, "2026-12-02")
    with pytest.raises(NotReady, match=r"the tag is v9\.9\.9, but the project is at 0\.1\.0; tag it v0\.1\.0"):
        check(root, "v9.9.9")
    assert (root / "pyproject.toml").read_text() == PROJECT
    with pytest.raises(NotReady, match="is no heading of the changelog"):
        released_versions("## 1.0 (2026)\n")
