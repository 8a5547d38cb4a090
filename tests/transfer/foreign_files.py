"""The samples as files that programs write, with readers of their own that say what is in them."""

import json
import zipfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import zstandard

from tests.transfer.foreign_databases import (
    adk,
    adk_database,
    cursor,
    langgraph,
    mem0_chroma,
    mem0_history,
    mem0_qdrant,
    openclaw,
    openclaw_file,
    opencode,
)
from tests.transfer.foreign_samples import SAMPLES, Row, Sample, copied, sample_lines, texts_of


def claude_code_rows(lines: Iterable[Any]) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        if line["type"] not in ("user", "assistant") or line.get("isMeta") or line.get("isCompactSummary"):
            continue
        content, text = line["message"]["content"], texts_of(line["message"]["content"])
        used = '"tool_use"' in json.dumps(content)
        synthetic = line["message"].get("model") == "<synthetic>"
        wrapped = text.startswith(("<command-", "<local-command-"))
        if (text or used) and not synthetic and not wrapped:
            rows.append((line["type"], text))
    return rows


def claude_code(folder: Path) -> Sample:
    rows = claude_code_rows(sample_lines("claude-code-2.1.197.jsonl"))
    path = copied(folder / ".claude/projects/-home-ann-proj", "claude-code-2.1.197.jsonl", "1b0f.jsonl")
    return Sample("Claude Code transcript", path, rows, {})


def codex_rows(lines: Iterable[Any]) -> list[Row]:
    rows: list[Row] = []
    for line in lines:
        item = line["payload"]
        if line["type"] != "response_item":
            continue
        if item["type"] == "function_call":
            rows.append(("assistant", ""))
        elif item["type"] == "message" and item["role"] in ("user", "assistant"):
            text = texts_of(item["content"])
            if not text.startswith(("<environment_context>", "<user_instructions>")):
                rows.append((item["role"], text))
    return rows


def codex(folder: Path) -> Sample:
    path = copied(folder / ".codex/sessions/2026/11/15", "codex-0.166.0-rollout.jsonl", "rollout-1.jsonl")
    return Sample("Codex transcript", path, codex_rows(sample_lines("codex-0.166.0-rollout.jsonl")), {})


def codex_zst(folder: Path) -> Sample:
    made = folder / ".codex/archived_sessions/rollout-2.jsonl.zst"
    made.parent.mkdir(parents=True)
    made.write_bytes(zstandard.compress((SAMPLES / "codex-0.166.0-rollout.jsonl").read_bytes()))
    return Sample("Codex transcript", made, codex_rows(sample_lines("codex-0.166.0-rollout.jsonl")), {})


def gemini_rows(lines: Iterable[Any]) -> list[Row]:
    found: dict[str, Any] = {}
    for line in lines:
        if "messages" in line.get("$set", {}):
            found = {one["id"]: one for one in line["$set"]["messages"]}
        elif "id" in line:
            found[line["id"]] = line
    rows: list[Row] = []
    for one in found.values():
        text = texts_of(one["content"])
        answered = isinstance(one["content"], list) and "functionResponse" in one["content"][0]
        role = "tool" if answered else str({"gemini": "assistant"}.get(one["type"], one["type"]))
        # The program's own words to its model are cut out, up to the mark that ends them.
        if not text.startswith("<session_context>") or "[trimmed]" in text:
            rows.append((role, text))
    return rows


def gemini(folder: Path) -> Sample:
    rows = gemini_rows(sample_lines("gemini-cli-0.61.0-session.jsonl"))
    path = copied(folder / ".gemini/tmp/proj/chats", "gemini-cli-0.61.0-session.jsonl", "session-1.jsonl")
    return Sample("Gemini CLI transcript", path, rows, {})


def gemini_legacy(folder: Path) -> Sample:
    record = json.loads((SAMPLES / "gemini-cli-legacy-session.json").read_text())
    rows = [(str({"gemini": "assistant"}.get(one["type"], one["type"])), one["content"]) for one in record["messages"]]
    path = copied(folder / ".gemini/tmp/9f/chats", "gemini-cli-legacy-session.json", "session-old.json")
    return Sample("Gemini CLI transcript", path, rows, {})


def chatgpt(folder: Path) -> Sample:
    path = copied(folder, "chatgpt-export-conversations-000.json", "conversations-000.json")
    rows = [("user", "My colour is teal"), ("tool", "Model set context updated."), ("assistant", "Noted: teal.")]
    return Sample("ChatGPT export", path, rows, {"attachment": 1, "abandoned message": 1})


def chatgpt_zip(folder: Path) -> Sample:
    plain = chatgpt(folder / "plain")
    path = folder / "zip" / "export.zip"
    path.parent.mkdir(parents=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write(plain.path, "conversations-000.json")
        for name in ("user.json", "chat.html", "file_0001.dat"):
            archive.writestr(name, "{}")
    return Sample("ChatGPT export", path, plain.rows, {"other archive file": 3, **plain.left_out})


def claude_ai(folder: Path) -> Sample:
    path = copied(folder, "claude-ai-export-conversations.json", "conversations.json")
    rows = [("user", "My colour is teal\n\n[n.txt]\nabc"), ("assistant", "Noted.")]
    return Sample("Claude.ai export", path, rows, {"attachment": 1})


def aider(folder: Path) -> Sample:
    path = copied(folder / "repo", "aider.chat.history.md", ".aider.chat.history.md")
    rows = [
        ("user", "remember I prefer tabs\nand teal"),
        ("assistant", "Understood: tabs and teal."),
        ("user", "/add a.py"),
    ]
    return Sample("aider chat history", path, rows, {})


def letta(folder: Path) -> Sample:
    rows = [("", "Name: Ann. Likes teal."), ("user", "My colour is teal")]
    return Sample("Letta agent file", copied(folder, "letta-0.16.8-agent.af", "ann.af"), rows, {"tool": 1})


def knowledge_graph(folder: Path) -> Sample:
    rows = [("", json.dumps(line, ensure_ascii=False)) for line in sample_lines("mcp-server-memory-2026.8.31.jsonl")]
    return Sample("MCP memory graph", copied(folder, "mcp-server-memory-2026.8.31.jsonl", "memory.jsonl"), rows, {})


def mem0_export(folder: Path) -> Sample:
    rows = [("", "Ann likes teal"), ("", "Ann works at Acme")]
    return Sample("mem0 memories", copied(folder, "mem0-get-all.json", "mem0.json"), rows, {})


def picobot(folder: Path) -> Sample:
    record = json.loads((SAMPLES / "picobot-sessions.json").read_text())
    said = (one for session in record["sessions"] for one in session["conversation"])
    rows = [(who.lower(), body["content"]) for one in said for who, body in one.items()]
    return Sample("PicoBot sessions", copied(folder / "data", "picobot-sessions.json", "sessions.json"), rows, {})


def memorysync(folder: Path) -> Sample:
    rows = [("", "Prefers dark mode."), ("", "Lives in Lyon.")]
    path = copied(folder, "memorysync-export.json", "memorysync.json")
    return Sample("MemorySync export", path, rows, {"deleted memory": 1})


def zep(folder: Path) -> Sample:
    rows = [("user", "My colour is teal"), ("assistant", "Noted."), ("", "Ann likes teal")]
    return Sample("Zep session memory", copied(folder, "zep-session-memory.json", "zep.json"), rows, {})


SAMPLES_OF: dict[str, Callable[[Path], Sample]] = {
    one.__name__: one
    for one in (
        *(
            claude_code,
            codex,
            codex_zst,
            gemini,
            gemini_legacy,
            chatgpt,
            chatgpt_zip,
            claude_ai,
            opencode,
            openclaw_file,
            openclaw,
        ),
        *(
            adk,
            adk_database,
            aider,
            letta,
            knowledge_graph,
            mem0_export,
            mem0_history,
            mem0_chroma,
            mem0_qdrant,
            langgraph,
            picobot,
            memorysync,
        ),
        *(zep, cursor),
    )
}


def conversations(count: int, turns: int = 4) -> Iterator[dict[str, Any]]:
    """Generated conversations in the form of a ChatGPT export."""
    for number in range(count):
        began = 1_760_000_000.0 + number * 1000
        nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None, "children": ["n0"]}}
        for turn in range(turns):
            id_ = f"n{turn}"
            nodes[id_] = {
                "id": id_,
                "parent": f"n{turn - 1}" if turn else "root",
                "children": [],
                "message": {
                    "id": f"c{number}-{id_}",
                    "author": {"role": ("user", "assistant")[turn % 2]},
                    "create_time": began + turn,
                    "content": {"content_type": "text", "parts": [f"turn {turn} of talk {number}"]},
                    "metadata": {},
                },
            }
        yield {
            "conversation_id": f"c-{number}",
            "title": f"Talk {number}",
            "create_time": began,
            "update_time": began + turns,
            "current_node": f"n{turns - 1}",
            "mapping": nodes,
        }
