"""Anthropic's memory tool: as its local file system tool on random histories, with safer paths, versions and trust."""

import asyncio
import json
import os
import random
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from anthropic import Anthropic
from anthropic.lib.tools import ToolError
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool

from recollectum import Recollectum, Vault
from recollectum.adapters.anthropic import AsyncRecollectumMemoryTool, RecollectumMemoryTool

STEPS = int(os.environ.get("ADAPTER_STEPS", "400"))
NAMES = ["a.md", "b.md", "Ünï", "x y", ".hidden", "d"]
TEXTS = ["one\ntwo\none\n", "", "no newline", "Tea", "tea", "\n\n", "a\r\nb\n", "x" * 2000]
SECRET = "ghp_" + "a1B2" * 9


@pytest.fixture
def vault(tmp_path: Path) -> Iterator[Vault]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        yield home.vault("user:ann")


@pytest.fixture
def tool(vault: Vault) -> RecollectumMemoryTool:
    return RecollectumMemoryTool(vault)


def _call(tool: RecollectumMemoryTool | BetaLocalFilesystemMemoryTool, command: dict[str, Any]) -> str:
    try:
        return str(tool.call(command))
    except ToolError as error:
        return f"error: {error.content}"
    except OSError:
        # Where a file is in the way, the local tool fails with an error of the system.
        return "error: of the system"


def _path(rnd: random.Random) -> str:
    return "/".join(["/memories", *(rnd.choice(NAMES) for _ in range(rnd.choice([0, 1, 1, 2, 2, 3, 4])))])


def _command(rnd: random.Random) -> dict[str, Any]:
    path = _path(rnd)
    return rnd.choice(
        [
            {"command": "view", "path": path},
            {"command": "view", "path": path, "view_range": [rnd.randint(0, 3), rnd.choice([-1, 1, 2, 9])]},
            {"command": "create", "path": path, "file_text": rnd.choice(TEXTS)},
            {"command": "create", "path": path, "file_text": rnd.choice(TEXTS)},
            {"command": "str_replace", "path": path, "old_str": rnd.choice(["one", "two", "Tea", "b"]), "new_str": "1"},
            {"command": "insert", "path": path, "insert_line": rnd.randint(-1, 4), "insert_text": "new\n"},
            {"command": "delete", "path": path},
            {"command": "rename", "old_path": path, "new_path": _path(rnd)},
        ]
    )


def _without_empty_folders(root: Path) -> None:
    for folder in sorted((one for one in root.rglob("*") if one.is_dir()), reverse=True):
        if not any(folder.iterdir()):
            folder.rmdir()


def _masked(answer: str) -> str:
    if not answer.startswith("Here're the files"):
        return answer
    head, first, *rest = answer.split("\n")
    lines = [line.partition("\t")[2] if line.endswith("/") else line for line in rest]
    return "\n".join([head, first.partition("\t")[2], *lines])


def _is_same(ours: str, theirs: str) -> bool:
    if theirs == "error: of the system":
        return ours.startswith("error: ")
    return ours == theirs


def test_a_random_history_answers_as_the_local_tool_word_for_word(tool: RecollectumMemoryTool, tmp_path: Path) -> None:
    rnd = random.Random(3)
    local = BetaLocalFilesystemMemoryTool(str(tmp_path / "local"))
    answers: list[str] = []
    for _ in range(STEPS):
        command = _command(rnd)
        ours, theirs = _masked(_call(tool, command)), _masked(_call(local, command))
        assert _is_same(ours, theirs), (command, ours, theirs)
        _without_empty_folders(tmp_path / "local" / "memories")
        answers.append(ours)
    assert {"File", "Here's", "Here're", "Successfully", "The", "error:"} <= {answer.split()[0] for answer in answers}


def test_each_change_keeps_the_text_before_it(tool: RecollectumMemoryTool, vault: Vault) -> None:
    tool.call({"command": "create", "path": "/memories/tea.md", "file_text": "likes Tea"})
    tool.call({"command": "str_replace", "path": "/memories/tea.md", "old_str": "Tea", "new_str": "tea"})
    tool.call({"command": "insert", "path": "/memories/tea.md", "insert_line": 0, "insert_text": "drinks"})
    (memory,) = vault.memories.list()
    texts = [json.loads(version.content)["body"]["text"] for version in vault.memories.history(memory.id).versions]
    assert texts == ["likes Tea", "likes tea", "drinks\nlikes tea\n"]


def test_a_deleted_file_can_be_restored(tool: RecollectumMemoryTool, vault: Vault) -> None:
    tool.call({"command": "create", "path": "/memories/d/tea.md", "file_text": "likes tea"})
    tool.call({"command": "delete", "path": "/memories/d"})
    assert "tea.md" not in str(tool.call({"command": "view", "path": "/memories"}))
    vault.privacy.undo.last()
    assert "likes tea" in str(tool.call({"command": "view", "path": "/memories/d/tea.md"}))


def test_a_file_waits_for_the_index_and_the_next_recall_finds_it(vault: Vault) -> None:
    RecollectumMemoryTool(vault).call({"command": "create", "path": "/memories/a.md", "file_text": "The door is teal."})
    assert vault.admin.index.status().waiting == 1
    assert "teal" in vault.recall("door")[0].text
    assert vault.admin.index.status().waiting == 0


def test_what_a_model_wrote_is_recalled_and_is_not_the_word_of_the_person(
    tool: RecollectumMemoryTool, vault: Vault
) -> None:
    tool.call({"command": "create", "path": "/memories/door.md", "file_text": "the door is teal"})
    (hit,) = vault.recall("teal door")
    assert hit.trust == "assistant"


def test_a_secret_is_not_stored(tool: RecollectumMemoryTool) -> None:
    tool.call({"command": "create", "path": "/memories/k", "file_text": f"token {SECRET}"})
    assert SECRET not in str(tool.call({"command": "view", "path": "/memories/k"}))


@pytest.mark.parametrize(
    "path",
    [
        "/etc/passwd",
        "/memoriesX",
        "/memories/../../etc/passwd",
        "/memories/a/../b",
        "/memories/.",
        "/memories/a\0b",
        "/memories/a\u202eb",
        "/memories/a\nb",
        "/memories/a\\b",
        "/memories/e\u0301",
        "/memories/" + "/".join("x" * 21),
        "/memories/" + "x" * 1100,
        f"/memories/{SECRET}",
    ],
)
def test_a_path_that_could_be_taken_for_another_is_refused(tool: RecollectumMemoryTool, path: str) -> None:
    for command in (
        {"command": "view", "path": path},
        {"command": "create", "path": path, "file_text": "x"},
        {"command": "rename", "old_path": "/memories/a", "new_path": path},
    ):
        with pytest.raises(ToolError):
            tool.call(command)
    assert str(tool.call({"command": "view", "path": "/memories"})).count("\n") == 1


def test_all_files_can_be_cleared_and_none_of_other_memories(tool: RecollectumMemoryTool, vault: Vault) -> None:
    vault.memories.save("the car is red")
    tool.call({"command": "create", "path": "/memories/a", "file_text": "x"})
    assert tool.clear_all_memory() == "All memory cleared"
    assert [memory.content for memory in vault.memories.list()] == ["the car is red"]


def test_the_awaited_tool_does_the_same(vault: Vault) -> None:
    tool = AsyncRecollectumMemoryTool(vault)

    async def talk() -> list[str]:
        commands: list[dict[str, Any]] = [
            {"command": "create", "path": "/memories/a", "file_text": "one\n"},
            {"command": "insert", "path": "/memories/a", "insert_line": 1, "insert_text": "two"},
            {"command": "str_replace", "path": "/memories/a", "old_str": "two", "new_str": "2"},
            {"command": "rename", "old_path": "/memories/a", "new_path": "/memories/b"},
            {"command": "view", "path": "/memories/b"},
            {"command": "delete", "path": "/memories/b"},
        ]
        told = [str(await tool.call(command)) for command in commands]
        return [*told, str(await tool.clear_all_memory())]

    assert (
        asyncio.run(talk())[4]
        == "Here's the content of /memories/b with line numbers:\n     1\tone\n     2\t2\n     3\t"
    )


def test_two_vaults_do_not_see_each_other(tmp_path: Path) -> None:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        ann, bob = (RecollectumMemoryTool(home.vault(f"user:{name}")) for name in ("ann", "bob"))
        ann.call({"command": "create", "path": "/memories/a", "file_text": "teal"})
        with pytest.raises(ToolError, match="does not exist"):
            bob.call({"command": "view", "path": "/memories/a"})


def test_the_tool_loop_of_the_sdk_runs_with_it(tool: RecollectumMemoryTool) -> None:
    create = {"command": "create", "path": "/memories/pref.md", "file_text": "likes tea"}
    replies = iter(
        [
            {
                "content": [{"type": "tool_use", "id": "t1", "name": "memory", "input": create}],
                "stop_reason": "tool_use",
            },
            {"content": [{"type": "text", "text": "saved"}], "stop_reason": "end_turn"},
        ]
    )
    asked: list[dict[str, Any]] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(json.loads(request.content))
        usage = {"input_tokens": 1, "output_tokens": 1}
        told = {"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_sequence": None, "usage": usage}
        return httpx2.Response(200, json={**told, **next(replies)})

    client = Anthropic(api_key="x", http_client=httpx2.Client(transport=httpx2.MockTransport(answer)))
    runner = client.beta.messages.tool_runner(
        model="x", max_tokens=50, messages=[{"role": "user", "content": "remember tea"}], tools=[tool]
    )
    runner.until_done()
    assert asked[0]["tools"] == [{"type": "memory_20250818", "name": "memory"}]
    assert asked[1]["messages"][-1]["content"][0]["content"] == "File created successfully at: /memories/pref.md"
