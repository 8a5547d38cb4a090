"""Notes: real folders with everything that lies about in them, followed as they change."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import Conflict, Denied, InvalidInput, NotFound
from recollectum.domain.files.note import SyncReport
from recollectum.domain.hit import SourceKind
from recollectum.domain.page import every
from recollectum.domain.trust import Trust
from recollectum.vault.vault import Vault
from tests.crashes.homes import file_of
from tests.matrix.homes import Turning, lay_home, open_home
from tests.vault.note_folders import OLD, found, write

MOST = 1 << 20


@pytest.fixture
def home(place: Path, clock: Turning) -> Iterator[Recollectum]:
    """Notes come when they are asked for, so that each test sees what its own sync does."""
    lay_home(place)
    with open_home(place, clock, settings={"notes.on_search": "off", "notes.on_session_start": "off"}) as opened:
        yield opened


@pytest.fixture
def folder(tmp_path: Path, vault: Vault) -> Path:
    made = tmp_path / "notes"
    made.mkdir()
    vault.admin.notes.add_folder(made)
    return made


def reason(report: SyncReport, path: Path) -> str:
    return dict(report.skipped)[str(path)]


def counts(report: SyncReport) -> tuple[int, int, int, int, int]:
    return report.added, report.changed, report.renamed, report.removed, report.unchanged


@pytest.mark.feature("G4")
@pytest.mark.feature("G10")
def test_a_note_is_found_with_its_lines(vault: Vault, folder: Path) -> None:
    path = write(folder / "garden" / "plants.md", "# Garden\n\nRoses.\n\n## Herbs\n\nBasil wants warm feet.\n")
    assert counts(vault.admin.notes.sync()) == (1, 0, 0, 0, 0)
    (hit,) = vault.recall("basil")
    assert hit.source.kind is SourceKind.NOTES
    assert str(hit.source) == f"{path}:5-7"
    assert hit.text == "## Herbs\n\nBasil wants warm feet.\n"
    assert path.read_text()[hit.source.start : hit.source.end] == hit.text
    assert (hit.author, hit.trust, hit.created_at.timestamp()) == ("garden/plants.md", Trust.OWNER, OLD)


@pytest.mark.feature("G4")
def test_filters_keep_sources_apart(vault: Vault, folder: Path) -> None:
    write(folder / "tea.md", "Green tea at four.")
    vault.admin.notes.sync()
    chat = vault.sessions.open()
    chat.add("user", "tea please", speaker="Ada")
    vault.memories.save("likes tea", kind="preference")
    assert {hit.source.kind for hit in vault.recall("tea")} == set(SourceKind)
    for kind in SourceKind:
        assert {hit.source.kind for hit in vault.recall("tea", source=kind)} == {kind}
    for hits in (
        vault.recall("tea", kind="preference"),
        vault.recall("tea", session_id=chat.id),
        vault.recall("tea", speaker="Ada"),
    ):
        assert SourceKind.NOTES not in {hit.source.kind for hit in hits}


def test_a_note_is_found_by_its_headings_its_name_and_a_piece_of_a_word(vault: Vault, folder: Path) -> None:
    path = write(folder / "trip_lisbon.md", "# Packing\n\n## Shoes\n\nBrown ones.\n")
    vault.admin.notes.sync()
    for query in ("lisbon", "packing shoes", "rown one"):
        assert found(vault, query) == [f"{path}:1-5"], query


def test_nothing_is_done_twice(vault: Vault, folder: Path, place: Path) -> None:
    write(folder / "a.md", "alpha")
    write(folder / "empty.md", "")
    assert counts(vault.admin.notes.sync()) == (2, 0, 0, 0, 0)
    assert counts(vault.admin.notes.sync()) == (0, 0, 0, 0, 2)
    assert vault.admin.notes.add_folder(folder) == vault.admin.notes.list_folders()[0]
    assert [event.subject_id for event in vault.admin.events.list() if event.subject == "notes"] == ["folder_1"]
    assert str(place) not in repr(vault.admin.events.list())


def test_a_file_that_did_not_change_is_not_read_again(vault: Vault, folder: Path) -> None:
    path = write(folder / "a.md", "alpha")
    vault.admin.notes.sync()
    # The same time and size: whoever trusts those does not see it.
    write(path, "omega")
    assert counts(vault.admin.notes.sync()) == (0, 0, 0, 0, 1)
    write(path, "alpha", at=OLD + 9)
    assert counts(vault.admin.notes.sync()) == (0, 0, 0, 0, 1)


def test_a_file_that_was_just_written_is_read_again(vault: Vault, folder: Path, clock: Turning) -> None:
    now = int(clock().timestamp())
    path = write(folder / "a.md", "alpha", at=now)
    vault.admin.notes.sync()
    write(path, "omega", at=now)
    assert counts(vault.admin.notes.sync()) == (0, 1, 0, 0, 0)
    assert found(vault, "omega")


def test_a_change_replaces_what_was_there(vault: Vault, folder: Path) -> None:
    path = write(folder / "a.md", "alpha")
    vault.admin.notes.sync()
    write(path, "omega and more", at=OLD + 1)
    assert counts(vault.admin.notes.sync()) == (0, 1, 0, 0, 0)
    assert (found(vault, "alpha"), found(vault, "omega")) == ([], [f"{path}:1-1"])
    assert vault.admin.index.verify().sound


@pytest.mark.feature("G7")
def test_a_removed_file_leaves_the_index_and_the_vault(home: Recollectum, vault: Vault, folder: Path) -> None:
    path = write(folder / "a.md", "the word xylophone")
    vault.admin.notes.sync()
    path.unlink()
    assert counts(vault.admin.notes.sync()) == (0, 0, 0, 1, 0)
    assert found(vault, "xylophone") == []
    assert vault.admin.notes.list() == []
    assert vault.admin.index.verify().sound
    file = file_of(home, "user:alice")
    assert file is not None
    for suffix in ("", "-wal"):
        part = file.with_name(file.name + suffix)
        assert not part.exists() or b"xylophone" not in part.read_bytes()


def test_a_renamed_file_keeps_its_pieces(vault: Vault, folder: Path, tmp_path: Path) -> None:
    path = write(folder / "a.md", "alpha")
    write(folder / "b.md", "alpha, and quite another thing")
    vault.admin.notes.sync()
    numbers = [note.number for note in vault.admin.notes.list()]
    other = tmp_path / "other"
    other.mkdir()
    vault.admin.notes.add_folder(other)
    path.rename(folder / "garden.md")
    (folder / "b.md").rename(other / "b.md")
    assert counts(vault.admin.notes.sync()) == (0, 0, 2, 0, 0)
    assert [note.number for note in vault.admin.notes.list()] == numbers
    assert set(found(vault, "alpha")) == {f"{folder / 'garden.md'}:1-1", f"{other / 'b.md'}:1-1"}
    assert found(vault, "garden") == [f"{folder / 'garden.md'}:1-1"]
    assert vault.admin.index.status().pieces == 2
    assert vault.admin.index.verify().sound


def test_rules_are_kept_at_every_depth(vault: Vault, folder: Path) -> None:
    write(folder / ".gitignore", "drafts/\n*.tmp.md\n")
    write(folder / "sub" / ".recollectumignore", "secret.md\n!kept.tmp.md\n")
    for name in ("a.md", "drafts/b.md", "c.tmp.md", "sub/secret.md", "sub/kept.tmp.md", ".obsidian/d.md", "e.pdf"):
        write(folder / name, name)
    vault.admin.notes.sync()
    assert [note.path for note in vault.admin.notes.list()] == ["a.md", "sub/kept.tmp.md"]
    write(folder / ".recollectumignore", "a.md")
    assert counts(vault.admin.notes.sync()) == (0, 0, 0, 1, 1)


def test_links_are_not_followed(vault: Vault, folder: Path, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside" / "private.md", "private words").parent
    write(folder / "sub" / "a.md", "alpha")
    (folder / "sub" / "loop").symlink_to(folder)
    (folder / "circle.md").symlink_to(folder / "circle.md")
    (folder / "out").symlink_to(outside)
    (folder / "out.md").symlink_to(outside / "private.md")
    (folder / ".gitignore").symlink_to(outside / "private.md")
    report = vault.admin.notes.sync()
    # A file of rules that cannot be read might have left things out, so nothing is read.
    assert "cannot be read" in reason(report, folder)
    (folder / ".gitignore").unlink()
    report = vault.admin.notes.sync()
    assert [note.path for note in vault.admin.notes.list()] == ["sub/a.md"]
    assert reason(report, folder / "out") == reason(report, folder / "out.md") == "is a link out of the folder"
    assert "circle" in reason(report, folder / "circle.md")
    assert found(vault, "private") == []


@pytest.mark.parametrize(
    ("content", "word"),
    [
        ("Grüße".encode("utf-8-sig"), "Grüße"),
        ("Grüße".encode("utf-16"), "Grüße"),
        (b"\xfe\xff" + "Grüße".encode("utf-16-be"), "Grüße"),
        ("Grüße".encode("utf-32"), "Grüße"),
        ("Grüße".encode("latin-1"), "Grüße"),
        ("“Grüße” für 5 €".encode("cp1252"), "Grüße"),
        (b"Gr\xfc\xdfe \x81", "Grüße"),
    ],
)
def test_texts_are_read_in_their_encoding(vault: Vault, folder: Path, content: bytes, word: str) -> None:
    write(folder / "a.md", content)
    assert vault.admin.notes.sync().skipped == ()
    (hit,) = vault.recall(word)
    assert word in hit.text
    assert "\ufeff" not in hit.text


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"\x89PNG\0\0", "is not text"),
        (bytes(range(256)), "is not text"),
        (b"caf\xe9 \x01\x02", "is not text"),
        (b"\xff\xfe\x00\xd8a\x00", "claims to be UTF-16 and is not"),
        (b"\xef\xbb\xbf\xff", "claims to be UTF-8 and is not"),
    ],
)
def test_what_is_no_text_is_said_in_words(vault: Vault, folder: Path, content: bytes, why: str) -> None:
    path = write(folder / "a.md", "it was text before")
    vault.admin.notes.sync()
    write(path, content, at=OLD + 1)
    report = vault.admin.notes.sync()
    assert reason(report, path) == why
    assert counts(report) == (0, 0, 0, 1, 0)


def test_a_huge_file_is_not_read(vault: Vault, folder: Path) -> None:
    path = folder / "huge.md"
    with path.open("wb") as file:
        file.truncate(100 << 20)
    write(folder / "most.md", b"x" * MOST)
    assert "102400 KiB" in reason(vault.admin.notes.sync(), path)
    assert [note.path for note in vault.admin.notes.list()] == ["most.md"]


def test_odd_things_in_a_folder_are_left_out_in_words(vault: Vault, folder: Path) -> None:
    os.mkfifo(folder / "pipe.md")
    (folder / "folder.md").mkdir()
    write(folder / "folder.md" / "real.md", "real")
    Path(os.fsdecode(os.fsencode(folder) + b"/caf\xe9.md")).write_text("x")
    write(folder / "old.md", "from a strange clock")
    os.utime(folder / "old.md", (-(10**10), -(10**10)))
    report = vault.admin.notes.sync()
    assert [note.path for note in vault.admin.notes.list()] == ["old.md", "folder.md/real.md"]
    assert dict(report.skipped) == {
        str(folder / "pipe.md"): "is not a regular file",
        str(folder / "caf\ufffd.md"): "has a name that is not UTF-8",
    }


def _lost(path: Path) -> Callable[[], None]:
    path.rename(path.with_name("away"))
    return lambda: path.with_name("away").rename(path) and None


def test_a_folder_that_is_away_keeps_its_notes(vault: Vault, folder: Path) -> None:
    write(folder / "a.md", "alpha")
    vault.admin.notes.sync()
    come_back = _lost(folder)
    report = vault.admin.notes.sync()
    assert "no such file" in reason(report, folder)
    assert found(vault, "alpha")
    come_back()
    assert counts(vault.admin.notes.sync()) == (0, 0, 0, 0, 1)


def test_a_closed_folder_keeps_its_notes(vault: Vault, folder: Path) -> None:
    write(folder / "sub" / "a.md", "alpha")
    write(folder / "sub.md", "beta")
    vault.admin.notes.sync()
    # To root no mode is closed, but a file of rules that is a link is to everybody.
    (folder / "sub" / ".gitignore").symlink_to("elsewhere")
    (folder / "sub").chmod(0)
    (folder / "sub.md").unlink()
    try:
        report = vault.admin.notes.sync()
        assert "cannot be read" in reason(report, folder / "sub")
        assert counts(report) == (0, 0, 0, 1, 0)
        assert found(vault, "alpha")
    finally:
        (folder / "sub").chmod(0o700)


def test_the_same_name_in_two_folders_is_two_notes(vault: Vault, folder: Path, tmp_path: Path) -> None:
    other = write(tmp_path / "other" / "a.md", "alpha of the one").parent
    write(folder / "a.md", "alpha, and quite another thing")
    vault.admin.notes.add_folder(other)
    assert counts(vault.admin.notes.sync()) == (2, 0, 0, 0, 0)
    assert set(found(vault, "alpha")) == {f"{folder / 'a.md'}:1-1", f"{other / 'a.md'}:1-1"}
    assert vault.admin.notes.remove_folder(other) == 1
    assert found(vault, "alpha") == [f"{folder / 'a.md'}:1-1"]
    assert (other / "a.md").exists()


def test_a_folder_that_cannot_be_followed_is_refused(vault: Vault, folder: Path, tmp_path: Path) -> None:
    (folder / "sub").mkdir()
    for nested in (folder / "sub", tmp_path, folder / ".." / "notes" / "sub"):
        with pytest.raises(Conflict, match="are inside one another"):
            vault.admin.notes.add_folder(nested)
    for wrong in (folder / "nothing", write(folder / "a.md", "x"), "", "a\0b", "\udce9", "x" * 5000):
        with pytest.raises(InvalidInput, match="folder"):
            vault.admin.notes.add_folder(wrong)
    with pytest.raises(NotFound):
        vault.admin.notes.remove_folder(tmp_path)


def test_only_the_operator_may_name_a_folder(home: Recollectum, tmp_path: Path) -> None:
    with pytest.raises(Denied):
        home.as_person("user:alice").vault("user:alice").admin.notes.add_folder(tmp_path)


def test_many_files_come_in_several_transactions(vault: Vault, folder: Path) -> None:
    for number in range(100):
        write(folder / f"{number}.md", f"note {number}")
    seen: list[int] = []
    assert vault.admin.notes.sync(seen.append).added == 100
    assert sum(seen) == 100
    assert len(seen) > 2
    assert len(list(every(lambda cursor: vault.admin.notes.list(cursor=cursor, limit=60)))) == 100


def test_the_index_is_made_again_with_its_notes(vault: Vault, folder: Path) -> None:
    write(folder / "a.md", "# A\n\nalpha\n\n# B\n\nbeta\n")
    vault.admin.notes.sync()
    before = found(vault, "beta")
    assert vault.admin.index.rebuild() == 2
    assert vault.admin.index.verify().sound
    assert found(vault, "beta") == before != []
