"""Every door says how much of a text that is longer than what recall searches is only stored."""

import json
import os
from pathlib import Path

import pytest

from recollectum.domain.notice import INDEXED
from recollectum.domain.proposal import Act, Finding
from recollectum.doors.mcp.catalogue import DEFAULT
from recollectum.doors.mcp.dispatch import call_tool
from recollectum.doors.mcp.results import ToolAnswer
from recollectum.transfer import jsonl
from recollectum.transfer.sessions import import_transcript
from tests.doors.cli.calls import ok
from tests.doors.http.served import serving
from tests.laws.intake_world import World, talk
from tests.matrix.homes import Turning, open_home

pytestmark = pytest.mark.process
_MORE = 1_500
_TEXT = ("The zebra said so. " * (INDEXED // 10))[: INDEXED + _MORE]
_SENTENCE = "1,500 characters are stored but not searched: recall searches the first 200,000 of a memory or message"


def test_python_results_say_how_much_is_not_searched(tmp_path: Path) -> None:
    with open_home(tmp_path, Turning()) as home:
        vault = home.vault("user:ann")
        saved = vault.memories.save("to be changed")
        finding = Finding(act=Act.ADD, content=f"1{_TEXT[1:]}", kind=saved.memory.kind, importance=0.5, spans=())
        results = [
            vault.memories.save(_TEXT),
            vault.memories.edit(saved.id, f"2{_TEXT[1:]}"),
            vault.memories.supersede(saved.id, f"3{_TEXT[1:]}"),
            vault.learnings.save(f"4{_TEXT[1:]}", "pattern"),
            *vault.admin.review.propose([finding]),
            vault.sessions.open().add("user", _TEXT),
            vault.sessions.open().add("user", [{"type": "text", "text": _TEXT}]),
            vault.learn([{"role": "user", "content": _TEXT}], channel="learned"),
            import_transcript(vault, jsonl.write(*talk(_TEXT))),
        ]
        assert [one.notice.unindexed for one in results] == [_MORE] * len(results)
        assert all(one.notice.sentences() == [_SENTENCE] for one in results)
        # A title is not searched at all, and what was read again is only shown.
        assert not vault.sessions.open().describe(title=_TEXT).notice
        assert not vault.memories.get(saved.id).notice


@pytest.mark.loopback
def test_every_door_says_how_much_is_not_searched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    with serving(Path(os.environ["RECOLLECTUM_HOME"])) as served:
        world = World(served.home, served, tmp_path)
        over_mcp = call_tool(DEFAULT, world.client(), "remember", {"content": f"1{_TEXT[1:]}"})
        memory = world.vault.memories.save("to be edited").id
        edited = served.ask("PATCH", f"/v1/memories/{memory}", {"content": f"2{_TEXT[1:]}"})
        page = world.console(f"/console/memories/{memory}/edit", content=f"3{_TEXT[1:]}", version="2")
    assert isinstance(over_mcp, ToolAnswer)
    assert _SENTENCE in over_mcp.text
    assert json.loads(json.dumps(over_mcp.structured))["notice"]["unindexed"] == _MORE
    assert edited.json["notice"]["unindexed"] == _MORE
    assert _SENTENCE in page
    person = ("--user", "alice")
    typed = ok("remember", "-", *person, stdin=f"4{_TEXT[1:]}".encode())
    assert _SENTENCE in typed.err
    said = ok("sessions", "add", "user", "-", "--json", *person, stdin=_TEXT.encode())
    assert said.json["notice"]["unindexed"] == _MORE
    assert _SENTENCE in said.err
    assert _SENTENCE in ok("chat", "--model", "none", *person, stdin=f"{_TEXT}\n".encode()).err
