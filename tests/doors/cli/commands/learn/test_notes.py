"""The notes commands."""

import os
from pathlib import Path

import pytest

from recollectum.home.daemon import daemon_lock
from recollectum.home.paths import Home
from tests.doors.cli.calls import ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "my notes"
    made.mkdir()
    (made / "tea.md").write_text("# Tea\n\nGreen tea at four.\n")
    return made


def test_a_folder_is_added_and_found(folder: Path) -> None:
    added = ok("notes", "add", str(folder))
    assert added.out.splitlines() == [f"{folder} is followed", "1 note added"]
    assert f"{folder / 'tea.md'}:1-3" in ok("recall", "green tea").out
    (hit,) = ok("recall", "tea", "--source", "notes", "--json").json["hits"]
    assert (hit["source"]["path"], hit["source"]["first_line"]) == (str(folder / "tea.md"), 1)
    assert ok("notes", "list").out.startswith(f"{folder}\t1\t")
    assert ok("notes", "list", "--json").json["folders"][0]["notes"] == 1


@pytest.mark.feature("G7")
def test_a_sync_says_what_happened(folder: Path) -> None:
    ok("notes", "add", str(folder))
    assert ok("notes", "sync").out == "1 note as before\n"
    (folder / "tea.md").rename(folder / "green.md")
    (folder / "picture.md").write_bytes(b"\x89PNG\0")
    answer = ok("notes", "sync")
    assert answer.out == "1 note renamed\n"
    assert answer.err == f"{folder / 'picture.md'} is not text\n"
    (folder / "green.md").unlink()
    report = ok("notes", "sync", "--json").json["report"]
    assert (report["removed"], report["skipped"]) == (1, [[str(folder / "picture.md"), "is not text"]])
    assert ok("notes", "sync").out == "no notes\n"


def test_many_reasons_are_cut_short(folder: Path) -> None:
    for number in range(25):
        (folder / f"{number}.md").write_bytes(b"\0")
    lines = ok("notes", "add", str(folder)).err.splitlines()
    assert len(lines) == 21
    assert lines[-1] == "and 5 more; --json names them all"


def test_a_folder_is_removed_and_its_files_stay(folder: Path, tmp_path: Path) -> None:
    ok("notes", "add", str(folder))
    assert "is not followed" in refused("notes", "remove", str(tmp_path))
    assert ok("notes", "remove", str(folder)).out == "1 note removed from the vault\n"
    assert ok("recall", "tea").out == ""
    assert (folder / "tea.md").exists()
    assert "no folder is followed" in ok("notes", "list").err


def test_what_is_no_folder_is_refused(folder: Path) -> None:
    assert "not a folder" in refused("notes", "add", str(folder / "tea.md"))
    assert "not a folder" in refused("notes", "add", str(folder / "nowhere"))
    ok("notes", "add", str(folder))
    (folder / "sub").mkdir()
    assert "are inside one another" in refused("notes", "add", str(folder / "sub"))


def test_a_key_may_not_name_a_folder(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_API_KEY", ok("keys", "create", "--json").json["secret"])
    assert "does not allow managing the home" in refused("notes", "add", str(folder))


def test_notes_are_embedded_when_they_are_read(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_EMBEDDING__PROVIDER", "local")
    ok("notes", "add", str(folder))
    assert "up to date" in ok("index", "status").out
    (folder / "car.md").write_text("The car is red.\n")
    with daemon_lock(Home(Path(os.environ["RECOLLECTUM_HOME"]))):
        # A daemon does it, so the command does not wait.
        ok("notes", "sync")
    assert "about 1 behind" in ok("index", "status").out
    ok("notes", "sync")
    assert "up to date" in ok("index", "status").out


def test_plain_text_org_and_rst_are_notes_and_other_files_are_named(folder: Path) -> None:
    for name, text in (
        ("a.txt", "a zebra"),
        ("b.org", "* a giraffe"),
        ("c.rst", "A lion\n======\n"),
        ("D.TXT", "an ox"),
    ):
        (folder / name).write_text(text)
    for name in ("e.pdf", "f.png", "g.png", "Makefile", ".hidden.pdf"):
        (folder / name).write_bytes(b"\0")
    added = ok("notes", "add", str(folder))
    assert "5 notes added" in added.out
    assert added.err == (
        f"{folder} holds 4 files of kinds that are not read (.png, no suffix, .pdf); "
        "notes are .md, .markdown, .txt, .org and .rst files\n"
    )
    for word, name in (("zebra", "a.txt"), ("giraffe", "b.org"), ("lion", "c.rst"), ("ox", "D.TXT")):
        assert f"{folder / name}:1-" in ok("recall", word, "--limit", "1").out
