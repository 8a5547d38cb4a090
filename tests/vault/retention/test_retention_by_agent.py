"""What was learned through an agent may rest for a time of its own."""

from datetime import timedelta
from pathlib import Path

import pytest

from recollectum.domain.errors import SettingsError
from tests.matrix.homes import START, Turning, open_home

DAY = timedelta(days=1)


@pytest.mark.feature("M2")
def test_an_agents_periods_go_before_the_usual_ones(tmp_path: Path) -> None:
    settings = {"lifecycle.agents": "coder=10, scratch=2/0/1"}
    with open_home(tmp_path, Turning(), settings=settings) as home:
        vault = home.vault("user:alice")
        usual = vault.memories.save("of nobody").memory
        coder = vault.memories.save("of the coder", agent="coder").memory
        scratch = vault.memories.save("of the scratch pad", agent="scratch").memory
        learned = vault.learnings.save("so it is done", "pattern", agent="coder")
        assert usual.archive_at is None
        assert (coder.archive_at, coder.retention_expires_at) == (START + 10 * DAY, START + 70 * DAY)
        assert (scratch.archive_at, scratch.retention_expires_at) == (None, START + 2 * DAY)
        assert vault.memories.get(learned.id).archive_at == START + 10 * DAY
        gone = vault.memories.forget(scratch.id)
        assert gone.hard_delete_at == START + DAY
        assert vault.memories.forget(usual.id).hard_delete_at == START + 7 * DAY


def test_in_the_vault_of_an_agent_all_is_that_agents(tmp_path: Path) -> None:
    settings = {"lifecycle.agents": "coder=10", "isolation": "agent"}
    with open_home(tmp_path, Turning(), settings=settings) as home:
        assert home.vault("user:alice", agent="coder").memories.save("x").memory.archive_at == START + 10 * DAY
        assert home.vault("user:alice", agent="main").memories.save("x").memory.archive_at is None


@pytest.mark.parametrize("text", ["coder", "coder=", "=3", "coder=x", "coder=-1", "coder=1/2/3/4", "coder=99999"])
def test_what_cannot_be_meant_is_refused(tmp_path: Path, text: str) -> None:
    with pytest.raises(SettingsError, match=r"lifecycle\.agents"):
        open_home(tmp_path, Turning(), settings={"lifecycle.agents": text})
