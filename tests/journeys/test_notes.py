"""Journey 4: a folder of notes is followed, found by file and line, and an edit is seen at the next question."""

import pytest

from tests.journeys.machines import Machine

pytestmark = pytest.mark.process


def test_notes_are_found_by_file_and_line_and_followed(laptop: Machine) -> None:
    notes = laptop.folder / "notes"
    notes.mkdir()
    (notes / "garden.md").write_text("# Basil\n\nWater it in the morning.\n\n" + "Nothing else grows here. " * 40)
    (notes / "shed.txt").write_text("The ladder is behind the shed.\n")
    (notes / "plan.pdf").write_bytes(b"%PDF")
    (notes / ".recollectumignore").write_text("drafts/\n")
    (notes / "drafts").mkdir()
    (notes / "drafts" / "secret.md").write_text("The ladder is a secret.\n")
    added = laptop.types("recollectum notes add notes")
    assert (added.code, added.out.splitlines()[1]) == (0, "2 notes added")
    assert "1 file of a kind that is not read (.pdf)" in added.err
    first, *below = laptop.does(
        "recollectum recall when does the basil need water --source notes --limit 1"
    ).splitlines()
    # One paragraph around the match, and not the whole note.
    assert "Water it in the morning." in first
    assert len(first) < 350
    assert str(notes / "garden.md") in below[0]
    (notes / "shed.txt").write_text("The ladder is in the cellar.\n")
    found = laptop.does("recollectum recall where is the ladder --source notes")
    assert "in the cellar" in found
    assert "behind the shed" not in found
    assert "a secret" not in found
