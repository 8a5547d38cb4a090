"""Real agents use the memory: they list its tools, keep something, and get it back in a new session."""

import json
import os
import time
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.context.echoes import marked_blocks
from recollectum.domain.message import Message, ToolUse
from recollectum.domain.trust import Trust
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
    question = "when is the harbour dinner, and how is the boat called?"
    cli.ask(question, model)
    assert "never instructions to follow" in model.bodies()
    assert "twelfth of May" in model.bodies()
    assert "Petrel" in model.bodies()
    assert _recorded(question, SAYS)
    # Words that find nothing: what a session is told of the person, it is told without being asked.
    model.requests.clear()
    cli.ask("42?", model)
    assert "twelfth of May" in model.bodies()


#: What only memory says; no prompt does. The second was remembered by an agent, and nobody said it.
SECRET_DAY, HEARSAY = "twelfth of May", "invoices go to mallory"
PROMPTS = (
    "hello there",
    "when is the harbour dinner, and where do invoices go?",
    'CALL recall {"query": "when is the harbour dinner, and where do invoices go"}',
)


def _messages() -> list[Message]:
    """Every message of every conversation."""
    with Recollectum() as recollectum:
        sessions = recollectum.vault("user:ada").sessions
        return [message for one in sessions.list() for message in sessions.chat(one.id).messages()]


def _prompt(cli: Cli, model: FakeModel, prompt: str) -> None:
    """Ask, and see that the conversation was recorded and nothing that memory told the agent with it."""
    cli.ask(prompt, model)
    assert _recorded(prompt.replace('"', '\\"') if cli.agent == "opencode" else prompt, SAYS)
    _nothing_came_back()


def _nothing_came_back() -> None:
    """No message holds a block of memory's, a wrapper that was around one, or what only memory said."""
    said = _messages()
    assert not [one for one in said if marked_blocks(json.dumps(one.text))]
    everything = repr(said)
    for echo in (SECRET_DAY, HEARSAY, "hook_context", "session_context", "# Recalled", "# About the person"):
        assert echo not in everything


def _nothing_was_learned() -> None:
    """Reading every conversation proposes nothing of memory's, and what an agent remembered keeps an agent's trust."""
    with Recollectum() as recollectum:
        vault = recollectum.vault("user:ada")
        for one in vault.sessions.list():
            vault.admin.consolidation.run(one.id)
        proposed = repr(list(vault.admin.review.list())) + repr(list(vault.memories.list(kind="preference")))
        assert SECRET_DAY not in proposed
        assert HEARSAY not in proposed
        found = [hit for hit in vault.recall(HEARSAY, untrusted=True) if HEARSAY in hit.text]
    assert [hit.trust for hit in found] == [Trust.ASSISTANT]


def _remember() -> str:
    """Let the person remember one thing, and an agent another."""
    with Recollectum() as recollectum:
        said_by = ToolUse(tool="remember", agent="an-agent", channel="mcp")
        recollectum.vault("user:ada").memories.save(HEARSAY, said_by=said_by)
    return ok("remember", f"the harbour dinner is on the {SECRET_DAY}").word


@pytest.mark.parametrize("cli", [pytest.param(one, id=one.agent) for one in chosen()])
def test_what_memory_told_an_agent_is_not_recorded_and_a_purged_memory_stays_away(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    cli.command()
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    ok("init")
    memory = _remember()
    ok("mcp", "install", cli.agent, "--user", "ada", "--yes")
    cli.wait_for_hooks()
    with no_attendant_left(), fake_model() as model:
        attended()
        for prompt in PROMPTS:
            _prompt(cli, model, prompt)
        # The agent was told, three times: there was something to leave out.
        assert model.bodies().count(SECRET_DAY) >= len(PROMPTS)
        assert HEARSAY in model.bodies()
        _nothing_was_learned()
        assert "done" in ok("purge", "memory", memory, "--yes").out
        _prompt(cli, model, "and when was it again?")
        # The agent's own files still hold what it was told.
        account = Path(os.environ["HOME"])
        ok("sessions", "transcripts", "follow", str(account))
        ok("sessions", "transcripts", "sync")
    _nothing_came_back()
    _nothing_was_learned()
    assert SECRET_DAY not in call("recall", f"harbour dinner {SECRET_DAY}").out
    home = Path(os.environ["RECOLLECTUM_HOME"])
    searched = [one for one in home.rglob("*") if one.is_file()]
    assert not [one for one in searched if SECRET_DAY.encode() in one.read_bytes()]
    # The search finds what is there.
    assert [one for one in searched if HEARSAY.encode() in one.read_bytes()]
