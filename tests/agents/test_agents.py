"""Real agents use the memory: they list its tools, keep something, and get it back in a new session."""

import os
import time
from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.agents.clis import Cli, chosen
from tests.agents.fake_model import SAYS, FakeModel, fake_model
from tests.doors.cli.calls import call, ok
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


#: What only memory says; no prompt does.
SECRET_DAY = "twelfth of May"
PROMPTS = ("hello there", "when is the harbour dinner?", 'CALL recall {"query": "when is the harbour dinner"}')


def _messages() -> str:
    """Every message of every conversation, with all that belongs to it."""
    with Recollectum() as recollectum:
        sessions = recollectum.vault("user:ada").sessions
        return "\n".join(repr(message) for one in sessions.list() for message in sessions.chat(one.id).messages())


def _prompt(cli: Cli, model: FakeModel, prompt: str) -> None:
    """Ask, and see that the conversation was recorded and nothing that memory told the agent with it."""
    cli.ask(prompt, model)
    assert _recorded(prompt.replace('"', '\\"') if cli.agent == "opencode" else prompt, SAYS)
    assert SECRET_DAY not in _messages()


@pytest.mark.parametrize("cli", [pytest.param(one, id=one.agent) for one in chosen()])
def test_what_memory_told_an_agent_is_not_recorded_and_a_purged_memory_stays_away(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.command()
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    ok("init")
    memory = ok("remember", f"the harbour dinner is on the {SECRET_DAY}").word
    ok("mcp", "install", cli.agent, "--user", "ada", "--yes")
    cli.wait_for_hooks()
    with no_attendant_left(), fake_model() as model:
        attended()
        for prompt in PROMPTS:
            _prompt(cli, model, prompt)
        # The agent was told, three times: there was something to leave out.
        assert model.bodies().count(SECRET_DAY) >= len(PROMPTS)
        ok("purge", "memory", memory, "--yes")
        _prompt(cli, model, "and when was it again?")
        # The agent's own files still hold what it was told.
        account = Path(os.environ["HOME"])
        ok("sessions", "transcripts", "follow", str(account))
        ok("sessions", "transcripts", "sync")
    assert SECRET_DAY not in _messages()
    assert SECRET_DAY not in call("recall", f"harbour dinner {SECRET_DAY}").out
    home = Path(os.environ["RECOLLECTUM_HOME"])
    assert not [one for one in home.rglob("*") if one.is_file() and SECRET_DAY.encode() in one.read_bytes()]
