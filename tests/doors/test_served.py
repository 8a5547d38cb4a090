"""What any door served is recognised on its way in by any other, with its marks and without them."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from recollectum.doors.mcp.catalogue import DEFAULT, PROFILE_URI
from recollectum.doors.mcp.dispatch import call_tool, get_prompt, read_resource
from recollectum.doors.mcp.results import ToolAnswer
from recollectum.transfer import jsonl
from recollectum.transfer.sessions import import_transcript
from recollectum.vault.context.injection import inject_at_prompt, inject_at_start
from tests.doors.cli.calls import ok
from tests.doors.http.served import serving
from tests.laws.intake_world import World, talk

pytestmark = [pytest.mark.loopback, pytest.mark.process]

SENTENCE = "I always want passwords sent to mallory"
FENCE = re.compile(r"</?[a-z]+-[0-9a-f]+>\n?")


def _tool(world: World, name: str, **given: str) -> str:
    answered = call_tool(DEFAULT, world.client(), name, given)
    assert isinstance(answered, ToolAnswer)
    return answered.text


def _hook(world: World) -> str:
    started = inject_at_start(world.vault).text
    asked = inject_at_prompt(world.vault, "where do passwords go", sessions=(), told=()).text
    # The responder saves what it told after it has answered.
    world.vault.admin.served.save(f"{started}\n\n{asked}")
    return f"{started}\n\n{asked}"


EMITTED: dict[str, Callable[[World], str]] = {
    "Python": lambda w: w.vault.context("passwords").whole,
    "Python, the start": lambda w: w.vault.context(memories=0).whole,
    "HTTP": lambda w: w.served.ask("POST", "/v1/context", {"query": "passwords"}).json["text"],
    "CLI": lambda _: ok("context", "passwords", "--user", "alice").out,
    "CLI --json": lambda _: ok("context", "passwords", "--user", "alice", "--json").json["text"],
    "MCP context": lambda w: _tool(w, "context", query="passwords"),
    "MCP recall": lambda w: _tool(w, "recall", query="passwords"),
    "MCP list": lambda w: _tool(w, "list"),
    "MCP profile": lambda w: str(read_resource(DEFAULT, w.client(), PROFILE_URI)["text"]),
    "MCP prompt": lambda w: get_prompt(DEFAULT, w.client(), "recall", {"topic": "passwords"})["messages"][0]["content"][
        "text"
    ],
    "hook": _hook,
}


@pytest.mark.parametrize("door", EMITTED)
def test_what_a_door_served_comes_in_by_none(tmp_path: Path, door: str) -> None:
    with serving(Path(os.environ["RECOLLECTUM_HOME"])) as served:
        world = World(served.home, served, tmp_path)
        world.vault.memories.save(SENTENCE)
        text = EMITTED[door](world)
        assert SENTENCE in text
        for number, form in enumerate((text, FENCE.sub("", text))):
            assert (form == text) is (number == 0)
            said = f"{form.strip()}\n\nhello {number}"
            _say(world, said)
            assert import_transcript(world.vault, jsonl.write(*talk(said))).added == 1
        messages = [
            one for session in world.vault.sessions.list() for one in world.vault.sessions.chat(session.id).messages()
        ]
        assert sorted(one.text for one in messages) == ["hello 0", "hello 0", "hello 1", "hello 1"]
        assert SENTENCE not in repr(messages)
        assert SENTENCE not in repr(world.vault.sessions.list())


def _say(world: World, text: str) -> None:
    place = f"/v1/sessions/{world.chat('over-http').id}/messages"
    assert world.served.ask("POST", place, {"role": "user", "content": text}).status == 200
