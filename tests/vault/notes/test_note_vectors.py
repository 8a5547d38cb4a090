"""Notes by meaning: their vectors outlive a rename, go with the file, and are kept where only a part changed."""

import os
from pathlib import Path

import pytest

from recollectum.recall.index.passages import note_hashes, text_hash, to_passage
from recollectum.vault.vault import Vault
from tests.recall.homes import opened, rows, scripted

OLD = 1_700_000_000
SECTIONS = "# Health\n\nThe physician is in on Mondays.\n\n# Garage\n\nThe automobile is red.\n"
SETTINGS = {"notes.on_search": "off"}


def write(path: Path, text: str, at: int = OLD) -> None:
    path.write_text(text)
    os.utime(path, (at, at))


def vectors(place: Path) -> list[tuple[int, bytes]]:
    return [(row[0], row[1]) for row in rows(place, "SELECT chunk, data FROM vectors ORDER BY chunk")]


def places(vault: Vault, query: str) -> str:
    return str(vault.recall(query, source="notes")[0].source)


@pytest.mark.feature("G10")
def test_a_renamed_note_keeps_its_vectors(place: Path, tmp_path: Path) -> None:
    write(tmp_path / "a.md", SECTIONS)
    embedder = scripted()
    with opened(place, embedder, settings=SETTINGS) as vault:
        vault.admin.notes.add_folder(tmp_path)
        vault.admin.notes.sync()
        assert places(vault, "car") == f"{tmp_path / 'a.md'}:5-7"
        before = vectors(place)
        assert len(before) == 2
        (tmp_path / "a.md").rename(tmp_path / "b.md")
        assert vault.admin.notes.sync().renamed == 1
        assert places(vault, "car") == f"{tmp_path / 'b.md'}:5-7"
        assert vectors(place) == before


@pytest.mark.feature("G7")
def test_a_removed_note_takes_its_vectors_along(place: Path, tmp_path: Path) -> None:
    write(tmp_path / "a.md", SECTIONS)
    with opened(place, scripted(), settings=SETTINGS) as vault:
        vault.admin.notes.add_folder(tmp_path)
        vault.admin.notes.sync()
        assert vault.recall("car")
        (tmp_path / "a.md").unlink()
        vault.admin.notes.sync()
        assert vault.recall("car") == []
        assert vectors(place) == []
        assert rows(place, "SELECT * FROM embedding_cache") == []


def test_only_what_changed_leaves_the_cache(place: Path, tmp_path: Path) -> None:
    write(tmp_path / "a.md", SECTIONS)
    with opened(place, scripted(), settings=SETTINGS) as vault:
        vault.admin.notes.add_folder(tmp_path)
        vault.admin.notes.sync()
        vault.admin.index.update()
        kept = {row[0] for row in rows(place, "SELECT text_hash FROM embedding_cache")}
        write(tmp_path / "a.md", SECTIONS.replace("red", "blue"), at=OLD + 1)
        vault.admin.notes.sync()
        left = {row[0] for row in rows(place, "SELECT text_hash FROM embedding_cache")}
        assert (len(kept), len(left)) == (2, 1)
        assert left < kept
        assert "blue" in vault.recall("car")[0].text


def test_a_piece_is_embedded_under_its_headings() -> None:
    text = "# Car\n\nRed.\n\n## Doors\n\nFour."
    start = text.index("## Doors")
    passage = to_passage((1, None, None, None, None, None, text[start:], "Car > Doors"))
    assert passage.text == "Car > Doors\n## Doors\n\nFour."
    assert passage.said == "## Doors\n\nFour."
    # What is erased with the note is what was kept for it.
    assert note_hashes(text) == {text_hash(passage.text), text_hash(f"Car\n{text[:start]}")}
