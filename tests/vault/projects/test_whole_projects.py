"""A project with all that belongs to it: erased by a purge, carried by a bundle, moved to another engine."""

from pathlib import Path

import pytest

from recollectum.domain.errors import NotFound
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from recollectum.vault.vault import Vault

SECRET = "the blue bilge pump leaks quicksilver"


@pytest.fixture
def filled(vault: Vault, tmp_path: Path) -> Vault:
    """Two projects with a memory and a conversation each."""
    for name in ("blue", "red"):
        (tmp_path / name).mkdir()
        place = str(tmp_path / name)
        vault.memories.save(SECRET.replace("blue", name), project=place, key="pump")
        vault.sessions.open(project=place).add("user", f"What about the {name} anchor chain?")
    return vault


@pytest.mark.feature("C14")
@pytest.mark.process
def test_a_purge_of_a_project_erases_it_and_nothing_else(filled: Vault) -> None:
    blue = filled.projects.get("blue").project
    seen = filled.privacy.purge.preview(PurgeRequest.projects(blue.id))
    assert {name: seen.counts[name] for name in ("memories", "sessions", "messages", "projects")} == {
        "memories": 1,
        "sessions": 1,
        "messages": 1,
        "projects": 1,
    }
    receipt = filled.privacy.purge.run(seen.token)
    assert (receipt.state, receipt.hits) == (PurgeState.DONE, 0)
    assert [one.project.name for one in filled.projects.list()] == ["red"]
    assert filled.projects.find(blue.root) is None
    assert {hit.text for hit in filled.recall("pump anchor", limit=20)} == {
        SECRET.replace("blue", "red"),
        "What about the red anchor chain?",
    }


def test_a_project_that_is_not_there_is_not_purged(filled: Vault) -> None:
    with pytest.raises(NotFound, match="there is no project 'green'"):
        filled.privacy.purge.preview(PurgeRequest.projects("green"))


def test_a_purge_of_a_project_that_changed_since_its_preview_is_refused(filled: Vault) -> None:
    seen = filled.privacy.purge.preview(PurgeRequest.projects("blue"))
    filled.memories.save("one thing more", project="blue")
    with pytest.raises(Exception, match="changed since"):
        filled.privacy.purge.run(seen.token)
    assert filled.projects.get("blue").counts.memories == 2
