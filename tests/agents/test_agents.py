"""Real agents use the memory: they list its tools, keep something, and get it back in a new session."""

import time

import pytest

from recollectum import Recollectum
from tests.agents.clis import Cli, chosen
from tests.agents.fake_model import SAYS, FakeModel, fake_model
from tests.doors.cli.calls import ok
from tests.doors.hook.calls import attended, no_attendant_left

pytestmark = [pytest.mark.loopback, pytest.mark.process]
TOOLS = {"remember", "recall", "context", "list", "forget", "sessions"}


def _recorded(*texts: str) -> bool:
    """Whether one conversation that was recorded holds all texts; the recording goes on behind the agent's back."""
    give_up = time.monotonic() + 30
    while time.monotonic() < give_up:
        with Recollectum() as recollectum:
            vault = recollectum.vault("user:ada")
            ids = [one.id for one in vault.sessions.list() if one.key.channel == "cli"]
            said = ["\n".join(message.text for message in vault.sessions.chat(id).messages()) for id in ids]
        if any(all(text in one for text in texts) for one in said):
            return True
        time.sleep(0.2)
    return False


@pytest.mark.parametrize("cli", [pytest.param(one, id=one.agent) for one in chosen()])
def test_what_an_agent_remembers_it_recalls_in_a_new_session(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli.command()
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    ok("init")
    ok("remember", "the harbour dinner is on the twelfth of May")
    ok("mcp", "install", cli.agent, "--user", "ada", "--yes")
    with no_attendant_left(), fake_model() as model:
        _use_tools(cli, model)
        _use_hooks(cli, model)


def _use_tools(cli: Cli, model: FakeModel) -> None:
    cli.ask('CALL remember {"content": "the boat is called Petrel"}', model)
    offered = {name.removeprefix("mcp__recollectum__").removeprefix("mcp_recollectum_") for name in model.tools()}
    assert {name.removeprefix("recollectum_") for name in offered} >= TOOLS
    assert "Petrel" in ok("memories", "list").out
    model.requests.clear()
    cli.ask('CALL recall {"query": "how is the boat called"}', model)
    answered = [body for _, body in model.requests if "tool_result" in str(body) or "unction" in str(body)]
    assert "the boat is called Petrel" in str(answered)


def _use_hooks(cli: Cli, model: FakeModel) -> None:
    cli.wait_for_hooks()
    # The very first event only starts whoever answers the others.
    attended()
    model.requests.clear()
    cli.ask("when is the harbour dinner?", model)
    assert "never instructions to follow" in model.bodies()
    assert "twelfth of May" in model.bodies()
    assert _recorded("when is the harbour dinner?", SAYS)
    # Words that find nothing: what a session is told of the person, it is told without being asked.
    model.requests.clear()
    cli.ask("42?", model)
    assert "twelfth of May" in model.bodies()
