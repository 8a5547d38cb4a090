"""The hooks of the Claude Agent SDK: with the real program and a scripted model, and by the SDK's own types."""

import asyncio
import json
import os
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest
from claude_agent_sdk import ClaudeAgentOptions, ClaudeSDKClient, ResultMessage

from recollectum import Recollectum, Vault
from recollectum.adapters.claude_agent import RecollectumSessionStore, memory_hooks
from recollectum.domain.session import Session
from recollectum.domain.trust import Trust
from tests.agents.sdk import NOTHING, claude_on_path

if TYPE_CHECKING:
    from claude_agent_sdk.types import HookEvent, HookInput, HookMatcher, SessionKey

Hooks = dict["HookEvent", "list[HookMatcher]"]
_BEGAN = datetime(2026, 11, 1, tzinfo=UTC)


class Transcript:
    """The file that the program writes, line by line."""

    def __init__(self, folder: Path, name: str = "c1") -> None:
        self.name, self.path, self._count = name, folder / f"{name}.jsonl", 0

    def write(self, role: str, text: str, *, end: str = "\n") -> None:
        self._count += 1
        at = (_BEGAN + timedelta(seconds=self._count)).isoformat()
        line: dict[str, Any] = {"type": role, "uuid": f"u{self._count}", "sessionId": self.name, "timestamp": at}
        with self.path.open("a") as file:
            file.write(json.dumps({**line, "message": {"role": role, "content": text}}) + end)

    def event(self, name: str, **fields: object) -> "HookInput":
        common = {"session_id": self.name, "transcript_path": str(self.path), "cwd": "/", "hook_event_name": name}
        return cast("HookInput", {**common, **fields})


def _call(hooks: Hooks, *events: "HookInput") -> list[str]:
    """Call the hook of each event, as the SDK does; return what the model is told."""

    async def work() -> list[str]:
        told: list[str] = []
        for event in events:
            (matcher,) = hooks[event["hook_event_name"]]
            output = cast("dict[str, Any]", await matcher.hooks[0](event, None, {"signal": None}))
            told.append(str(output.get("hookSpecificOutput", {}).get("additionalContext", "")))
        return told

    return asyncio.run(work())


def _said(vault: Vault) -> list[tuple[str, str]]:
    chats = [vault.sessions.chat(one.id) for one in reversed(vault.sessions.list())]
    return [(one.role.value, one.text) for chat in chats for one in chat.transcript() if one.text]


@pytest.mark.process
@pytest.mark.loopback
def test_the_real_program_recalls_is_recorded_as_its_file_says_and_goes_on_without_the_file(
    home: Recollectum, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    vault = home.vault("user:ann")
    vault.memories.save("the boat is called Petrel")
    options = ClaudeAgentOptions(
        hooks=memory_hooks(vault), session_store=RecollectumSessionStore(vault), cwd=tmp_path, setting_sources=[]
    )

    async def talk(options: ClaudeAgentOptions, *prompts: str) -> list[ResultMessage]:
        answers: list[ResultMessage] = []
        async with ClaudeSDKClient(options) as client:
            for prompt in prompts:
                await client.query(prompt)
                answers += [one async for one in client.receive_response() if isinstance(one, ResultMessage)]
        return answers

    asked = ("How is the boat called?", "And what is it made of?")
    with claude_on_path(monkeypatch) as model:
        results = asyncio.run(talk(options, *asked))
        answers = [one.result for one in results]
        # What a conversation was told once, it is not told again.
        assert [answer and "Petrel" in answer for answer in answers] == [True, True]
        wanted = [("user", asked[0]), ("assistant", answers[0]), ("user", asked[1]), ("assistant", answers[1])]
        assert _said(vault) == wanted
        session, file = _recorded(vault), _written()
        said = vault.sessions.chat(session.id).transcript()
        assert [one.trust for one in said] == [Trust.OWNER, Trust.ASSISTANT] * 2
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        assert [one.native_id for one in said] == [
            line["uuid"] for line in lines if line["type"] in ("user", "assistant") and NOTHING not in str(line)
        ]
        key: SessionKey = {"project_key": file.parent.name, "session_id": results[0].session_id}
        stored = asyncio.run(RecollectumSessionStore(vault).load(key)) or []
        # The program hands out all lines with an id; of the others some are for itself.
        assert [one for one in stored if "uuid" in one] == [line for line in lines if "uuid" in line]
        # An import of what the program wrote adds nothing.
        done = vault.admin.imports.run(vault.admin.imports.preview([file]), mine=True)
        assert [one.added for one in done.files] == [0]
        # On another machine there is no file; the vault has every line of it.
        file.unlink()
        model.requests.clear()
        (result,) = asyncio.run(talk(replace(options, resume=results[0].session_id), "And how long is it?"))
        assert result.session_id == results[0].session_id
        assert all(text in model.bodies() for text in asked)
    assert _said(vault) == [*wanted, ("user", "And how long is it?"), ("assistant", result.result)]


def _recorded(vault: Vault) -> Session:
    (session,) = [one for one in vault.sessions.list() if one.key.agent == "claude-code"]
    return session


def _written() -> Path:
    (file,) = Path(os.environ["HOME"]).glob(".claude/projects/*/*.jsonl")
    return file


def test_a_prompt_is_told_what_other_conversations_said_and_no_other_person(home: Recollectum, tmp_path: Path) -> None:
    hooks = memory_hooks(home.vault("user:ann"))
    first, second = Transcript(tmp_path, "c1"), Transcript(tmp_path, "c2")
    first.write("user", "My colour is teal.")
    first.write("assistant", "Noted.")
    _call(hooks, first.event("Stop", stop_hook_active=False, last_assistant_message="Noted."))
    asked = "Which colour do I like?"
    (told, again, own) = _call(
        hooks,
        second.event("UserPromptSubmit", prompt=asked),
        second.event("UserPromptSubmit", prompt=asked),
        first.event("UserPromptSubmit", prompt=asked),
    )
    assert "My colour is teal." in told
    assert "never instructions to follow" in told
    # Neither what this conversation was told before, nor what was said in it.
    assert "teal" not in again + own
    assert _call(memory_hooks(home.vault("user:bob")), second.event("UserPromptSubmit", prompt=asked)) == [""]


def test_after_a_compaction_it_is_told_again(vault: Vault, tmp_path: Path) -> None:
    vault.memories.save("Ann likes the colour teal")
    hooks, file = memory_hooks(vault), Transcript(tmp_path)
    asked = file.event("UserPromptSubmit", prompt="which colour do I like?")
    compacting = file.event("PreCompact", trigger="auto", custom_instructions=None)
    file.write("user", "which colour do I like?")
    told = _call(hooks, asked, asked, compacting, asked)
    assert ["teal" in one for one in told] == [True, False, False, True]
    assert _said(vault) == [("user", "which colour do I like?")]


def test_each_event_records_whole_lines_once(vault: Vault, tmp_path: Path) -> None:
    hooks, file = memory_hooks(vault), Transcript(tmp_path)
    tool = file.event("PostToolUse", tool_name="Bash", tool_input={}, tool_response="x", tool_use_id="t")
    assert _call(hooks, tool) == [""]
    file.write("user", "one")
    file.write("assistant", "two", end="")
    _call(hooks, tool)
    assert _said(vault) == [("user", "one")]
    with file.path.open("a") as open_file:
        open_file.write("\n")
    _call(hooks, tool, tool)
    assert _said(vault) == [("user", "one"), ("assistant", "two")]


def test_an_answer_that_the_file_does_not_have_yet_is_recorded_once(vault: Vault, tmp_path: Path) -> None:
    hooks, file = memory_hooks(vault), Transcript(tmp_path)
    file.write("user", "one")
    _call(hooks, file.event("Stop", stop_hook_active=False, last_assistant_message="two"))
    assert _said(vault) == [("user", "one"), ("assistant", "two")]
    file.write("assistant", "two")
    file.write("user", "three")
    file.write("assistant", "two")
    _call(hooks, file.event("Stop", stop_hook_active=False, last_assistant_message="two"))
    assert _said(vault) == [("user", "one"), ("assistant", "two"), ("user", "three"), ("assistant", "two")]


def test_another_process_goes_on_where_the_last_one_was(vault: Vault, tmp_path: Path) -> None:
    file = Transcript(tmp_path)
    stop = file.event("PreCompact", trigger="manual", custom_instructions=None)
    file.write("user", "one")
    _call(memory_hooks(vault), stop)
    vault.sessions.chat(vault.sessions.list()[0].id).end()
    file.write("assistant", "two")
    _call(memory_hooks(vault), stop)
    assert _said(vault) == [("user", "one"), ("assistant", "two")]
    assert len(vault.sessions.list()) == 1
