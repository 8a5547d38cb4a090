"""Laws of notes: whatever lies in a file, syncing it is quick to say what happened, and the index stays sound."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home, quick_folder

pytestmark = pytest.mark.slow

LINES = st.sampled_from(
    ["# A", "## B", "- item", "```", "| a | b |", "---", "", "  ", "日本語", "rain on the plain", "\ufeff", "\x85"]
)
TEXTS = st.text(max_size=300) | st.lists(LINES, max_size=40).map("\n".join)
CONTENTS = (
    TEXTS.map(str.encode) | st.binary(max_size=300) | st.text(max_size=50).map(lambda text: text.encode("utf-16"))
)
NAMES = st.sampled_from(["a.md", "b.md", "sub/a.md", "sub/c.MD"])
#: What lies in the folder each time somebody looks.
STATES = st.lists(st.dictionaries(NAMES, CONTENTS, max_size=4), min_size=1, max_size=4)


@pytest.fixture(scope="module")
def vault() -> Iterator[Vault]:
    with quick_folder() as folder, open_home(folder, Turning(), settings={"notes.on_search": "off"}) as home:
        yield home.vault("user:alice")


def _lay(folder: Path, files: dict[str, bytes]) -> None:
    for old in folder.rglob("*.[mM][dD]"):
        old.unlink()
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(content)


@given(STATES)
@settings(max_examples=60, deadline=None)
@pytest.mark.feature("G7")
def test_the_vault_holds_what_lies_in_the_folder(vault: Vault, states: list[dict[str, bytes]]) -> None:
    with quick_folder() as folder:
        vault.admin.notes.add_folder(folder)
        for files in states:
            _lay(folder, files)
            report = vault.admin.notes.sync()
            left_out = {Path(path).relative_to(folder.resolve()).as_posix() for path, _ in report.skipped}
            held = {note.path for note in vault.admin.notes.list()}
            assert held == files.keys() - left_out
            assert report.added + report.changed + report.renamed + report.unchanged == len(held)
            assert vault.admin.index.verify().sound
            again = vault.admin.notes.sync()
            assert (again.added, again.changed, again.renamed, again.removed) == (0, 0, 0, 0)
        vault.admin.notes.remove_folder(folder)
        assert vault.admin.notes.list() == []
        assert vault.admin.index.status().pieces == 0


@given(TEXTS)
@settings(max_examples=60, deadline=None)
@pytest.mark.feature("G10")
def test_every_hit_cites_the_lines_it_stands_on(vault: Vault, text: str) -> None:
    with quick_folder() as folder:
        (folder / "a.md").write_bytes(text.encode())
        vault.admin.notes.add_folder(folder)
        vault.admin.notes.sync()
        for hit in vault.recall(text[:100] or "a", source="notes"):
            first, last = hit.source.first_line, hit.source.last_line
            assert first is not None
            assert last is not None
            assert 1 <= first <= last <= len(text.splitlines()) + 1
            assert hit.text
            assert hit.source.path == str(folder.resolve() / "a.md")
        vault.admin.notes.remove_folder(folder)
