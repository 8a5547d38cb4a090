"""Which sources are searched when nobody says where."""

from pathlib import Path

import pytest

from recollectum.domain.errors import SettingsError
from tests.matrix.homes import Turning, open_home
from tests.vault.note_folders import write


@pytest.mark.feature("G20")
@pytest.mark.parametrize(
    ("sources", "found"),
    [
        ("memories, sessions, notes", {"memories", "sessions", "notes"}),
        ("sessions,memories", {"memories", "sessions"}),
        ("notes,memories", {"memories", "notes"}),
        ("notes", {"notes"}),
    ],
)
def test_only_the_chosen_sources_are_searched(
    place: Path, tmp_path: Path, clock: Turning, sources: str, found: set[str]
) -> None:
    write(tmp_path / "notes" / "a.md", "alpha in a note")
    with open_home(place, clock, settings={"recall.sources": sources, "recall.limit": 3}) as home:
        vault = home.vault("user:alice")
        vault.admin.notes.add_folder(tmp_path / "notes")
        for number in range(20):
            vault.sessions.open().add("user", f"alpha said, time {number}")
        vault.memories.save("alpha as a memory")
        assert {hit.source.kind for hit in vault.recall("alpha", limit=30)} == found
        assert len(vault.recall("alpha")) == (1 if found == {"notes"} else 2 if "sessions" not in found else 3)
        # Whoever says where is not held back.
        assert len(vault.recall("alpha", source="sessions", limit=30)) == 20
        assert vault.recall("alpha", speaker="user", limit=30)


@pytest.mark.parametrize("sources", ["", "dreams", "memories,,notes"])
def test_a_source_that_is_not_one_is_refused(place: Path, clock: Turning, sources: str) -> None:
    with (
        pytest.raises(SettingsError, match="list of memories, sessions and notes"),
        open_home(place, clock, settings={"recall.sources": sources}),
    ):
        pass
