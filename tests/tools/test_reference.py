"""The committed reference pages are the ones the code makes, and no command is left out of the guide."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools.reference import commands, pages, write

FOLDER = ROOT / "docs" / "reference"
GUIDE = ROOT / "docs" / "guides" / "command-line.md"


@pytest.mark.parametrize("name", sorted(pages()))
def test_the_committed_page_is_the_one_that_is_made(name: str) -> None:
    assert (FOLDER / name).read_text(encoding="utf-8") == pages()[name], "run: make docs"


def test_pages_are_written(tmp_path: Path) -> None:
    write(tmp_path / "new")
    assert {path.name for path in (tmp_path / "new").iterdir()} == set(pages())


@pytest.mark.parametrize("path", [path for path, _ in commands()])
def test_every_command_is_in_the_reference_and_the_guide(path: str) -> None:
    assert f"## `{path}`\n" in (FOLDER / "cli.md").read_text(encoding="utf-8")
    assert re.search(rf"^{re.escape(path)}\b|`{re.escape(path)}`", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)


def test_no_page_depends_on_the_run_that_made_it() -> None:
    for text in pages().values():
        assert not re.search(r"0x[0-9a-f]{6,}|<function|<factory>|site-packages", text)


def test_every_command_of_the_guide_exists() -> None:
    known = {path for path, _ in commands()}
    shown = re.findall(r"^(?:.*\| )?(recollectum(?: [a-z][a-z-]*)*)", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    for line in shown:
        words = line.split()
        assert any(" ".join(words[:length]) in known for length in (2, 3)), line
