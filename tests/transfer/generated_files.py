"""Generated histories, written as each program writes its files; what was generated is what an import has to find."""

import json
import random
import zipfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import zstandard

from tests.transfer.foreign_samples import Row

_BEGAN = datetime(2026, 1, 1, 8, tzinfo=UTC)
#: Texts that a reader could cut, join or take for something else.
_SAID = (
    "my colour is teal",
    "„größer“ — 名前, naïve, ﬁsh",
    "two\nlines, and a tab\there",
    "a line\u2028separator and a \u00a0blank",
    '{"type": "user", "message": null}',
    "\U0001f9e1\U0001f469\u200d\U0001f680 said so",
    "a, comma; 'quotes' \"and\" \\ backslash",
    "<b>markup</b> & ampersand %3A",
    "#not a heading",
    "word " * 200 + "end",
)
Speakers = dict[str, str]


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation: its number, and what was said in it."""

    number: int
    rows: list[Row]

    @property
    def name(self) -> str:
        """Its name in every form."""
        return f"talk-{self.number}"

    @property
    def began(self) -> datetime:
        """When it began: each an hour after the last."""
        return _BEGAN + timedelta(hours=self.number)

    def turns(self, speakers: Speakers | None = None) -> Iterator[tuple[str, str, str, datetime]]:
        """Yield an id, the speaker by the word of a form, the text and the time of each message."""
        for place, (role, text) in enumerate(self.rows):
            speaker = (speakers or {}).get(role, role)
            yield f"{self.name}-{place}", speaker, text, self.began + timedelta(seconds=place + 1)


@dataclass(frozen=True, slots=True)
class Written:
    """What was written: the files, and what an import has to find in them."""

    form: str
    paths: list[Path]
    talks: list[list[Row]] = field(default_factory=list[list[Row]])
    memories: list[str] = field(default_factory=list[str])
    mapping: dict[str, str] | None = None


def talks(count: int) -> list[Talk]:
    """Generate conversations of two to five messages; no text is there twice."""
    chance = random.Random(count)
    return [
        Talk(
            number,
            [
                (("user", "assistant")[turn % 2], f"{number}.{turn} {chance.choice(_SAID)}")
                for turn in range(chance.randrange(2, 6))
            ],
        )
        for number in range(count)
    ]


def facts(count: int) -> list[tuple[str, str, datetime]]:
    """Generate memories: an id, a text and a time."""
    return [(one.name, one.rows[0][1], one.began) for one in talks(count)]


def stamp(at: datetime) -> str:
    """Return a time as most programs write it."""
    return at.isoformat().replace("+00:00", "Z")


def _files(
    form: str, folder: Path, name: Callable[[Talk], str], count: int, lines: Callable[[Talk], Iterable[Any]]
) -> Written:
    """Write a file of JSON lines for each conversation."""
    made = talks(count)
    paths = [folder / name(one) for one in made]
    for path, one in zip(paths, made, strict=True):
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines(one)).encode()
        path.write_bytes(zstandard.compress(data) if path.suffix == ".zst" else data)
    return Written(form, paths, [one.rows for one in made])


def _file(path: Path, value: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(value, ensure_ascii=False))
    return path


def _claude_code_lines(one: Talk) -> Iterator[Any]:
    common = {"sessionId": one.name, "cwd": "/p", "version": "2.1.325", "isSidechain": False}
    yield {"type": "queue-operation", "operation": "enqueue", **common, "timestamp": stamp(one.began)}
    for id_, role, text, at in one.turns():
        content = text if role == "user" else [{"type": "thinking", "thinking": "hm"}, {"type": "text", "text": text}]
        message = {"role": role, "content": content, "model": "m"}
        yield {"type": role, "uuid": id_, **common, "timestamp": stamp(at), "message": message}
        result = [{"type": "tool_result", "tool_use_id": "t", "content": "not said"}]
        aside = {"type": "user", "uuid": f"{id_}-r", **common, "timestamp": stamp(at)}
        yield {**aside, "message": {"role": "user", "content": result}}
        yield {**aside, "uuid": f"{id_}-s", "isSidechain": True, "message": {"role": "user", "content": "a subagent's"}}
    yield {"type": "last-prompt", "lastPrompt": "x", "leafUuid": "y", "sessionId": one.name}


def claude_code(folder: Path, count: int) -> Written:
    """Transcripts of Claude Code, with lines that nobody said."""
    return _files(
        "Claude Code transcript", folder / "projects/-p", lambda one: f"{one.name}.jsonl", count, _claude_code_lines
    )


def _codex_lines(one: Talk) -> Iterator[Any]:
    yield {"timestamp": stamp(one.began), "type": "session_meta", "payload": {"id": one.name, "cwd": "/p"}}
    for id_, role, text, at in one.turns():
        kind = "input_text" if role == "user" else "output_text"
        item = {"type": "message", "id": id_, "role": role, "content": [{"type": kind, "text": text}]}
        yield {"timestamp": stamp(at), "type": "response_item", "payload": item}
        yield {"timestamp": stamp(at), "type": "event_msg", "payload": {"type": "agent_message", "message": text}}


def codex(folder: Path, count: int) -> Written:
    """Rollouts of Codex."""
    return _files("Codex transcript", folder, lambda one: f"rollout-{one.name}.jsonl", count, _codex_lines)


def codex_zst(folder: Path, count: int) -> Written:
    """Rollouts of Codex, compressed."""
    return _files("Codex transcript", folder, lambda one: f"rollout-{one.name}.jsonl.zst", count, _codex_lines)


def _gemini_lines(one: Talk) -> Iterator[Any]:
    yield {"sessionId": one.name, "projectHash": "h", "startTime": stamp(one.began), "kind": "main"}
    for id_, kind, text, at in one.turns({"assistant": "gemini"}):
        line = {"id": id_, "timestamp": stamp(at), "type": kind, "content": [{"text": "a draft"}]}
        # The same id again replaces the message, as when a tool has answered.
        yield line
        yield {**line, "content": [{"text": text}]}
        yield {"$set": {"lastUpdated": stamp(at)}}
        yield {**line, "id": f"{id_}-gone"}
        yield {"$rewindTo": f"{id_}-gone"}


def gemini(folder: Path, count: int) -> Written:
    """Change logs of Gemini CLI, with changed and withdrawn messages."""
    return _files("Gemini CLI transcript", folder, lambda one: f"session-{one.name}.jsonl", count, _gemini_lines)


def gemini_legacy(folder: Path, count: int) -> Written:
    """Records of earlier versions of Gemini CLI."""
    made = talks(count)
    paths = [
        _file(
            folder / f"session-{one.name}.json",
            {
                "sessionId": one.name,
                "projectHash": "h",
                "startTime": stamp(one.began),
                "lastUpdated": stamp(one.began),
                "messages": [
                    {"id": id_, "timestamp": stamp(at), "type": kind, "content": text}
                    for id_, kind, text, at in one.turns({"assistant": "gemini"})
                ],
            },
        )
        for one in made
    ]
    return Written("Gemini CLI transcript", paths, [one.rows for one in made])


def openclaw_events(one: Talk) -> Iterator[Any]:
    """Yield the events of a conversation of OpenClaw, as files and as its database have them."""
    yield {"type": "session", "version": 4, "id": one.name, "timestamp": stamp(one.began), "cwd": "/p"}
    yield {"type": "model_change", "modelId": "m", "id": "c", "parentId": None, "timestamp": stamp(one.began)}
    for id_, role, text, at in one.turns():
        content = text if role == "user" else [{"type": "text", "text": text}]
        yield {
            "type": "message",
            "id": id_,
            "timestamp": stamp(at),
            "message": {"role": role, "content": content},
        }


def openclaw_file(folder: Path, count: int) -> Written:
    """Transcripts of earlier versions of OpenClaw."""
    return _files("OpenClaw transcript", folder, lambda one: f"{one.name}.jsonl", count, openclaw_events)


def _chatgpt_conversation(one: Talk) -> Any:  # noqa: ANN401  (JSON of any form)
    nodes: dict[str, Any] = {"root": {"id": "root", "message": None, "parent": None}}
    last = "root"
    for id_, role, text, at in one.turns():
        message = {
            "id": id_,
            "author": {"role": role},
            "create_time": at.timestamp(),
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {},
        }
        # Each message has a neighbour that was regenerated, and is no longer shown.
        nodes[f"{id_}-old"] = {"parent": last, "message": {**message, "id": f"{id_}-old"}}
        nodes[id_] = {"parent": last, "message": message}
        last = id_
    times = {"create_time": one.began.timestamp(), "update_time": one.began.timestamp()}
    return {"conversation_id": one.name, "title": one.name, **times, "current_node": last, "mapping": nodes}


def chatgpt(folder: Path, count: int) -> Written:
    """An export of ChatGPT, with regenerated answers."""
    made = talks(count)
    path = _file(folder / "conversations.json", [_chatgpt_conversation(one) for one in made])
    return Written("ChatGPT export", [path], [one.rows for one in made])


def chatgpt_zip(folder: Path, count: int) -> Written:
    """An export of ChatGPT as it is downloaded: an archive of several lists."""
    made, path = talks(count), folder / "export.zip"
    folder.mkdir(parents=True)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for shard in range(4):
            listed = [_chatgpt_conversation(one) for one in made[shard::4]]
            archive.writestr(f"conversations-{shard:03}.json", json.dumps(listed))
    return Written("ChatGPT export", [path], [one.rows for one in made])


def claude_ai(folder: Path, count: int) -> Written:
    """An export of Claude.ai."""
    made = talks(count)
    listed = [
        {
            "uuid": one.name,
            "name": one.name,
            "created_at": stamp(one.began),
            "updated_at": stamp(one.began),
            "account": {"uuid": "a"},
            "chat_messages": [
                {"uuid": id_, "sender": who, "text": text, "content": [{"type": "text", "text": text}]}
                | {"created_at": stamp(at), "attachments": [], "files": []}
                for id_, who, text, at in one.turns({"user": "human"})
            ],
        }
        for one in made
    ]
    return Written("Claude.ai export", [_file(folder / "conversations.json", listed)], [one.rows for one in made])


def aider(folder: Path, count: int) -> Written:
    """The history of aider, with its notices."""
    made, path = talks(count), folder / ".aider.chat.history.md"
    folder.mkdir(parents=True)
    parts: list[str] = []
    for one in made:
        parts.append(f"\n# aider chat started at {one.began:%Y-%m-%d %H:%M:%S}\n\n> Aider v0.86.2  \n\n")
        for role, text in one.rows:
            said = "".join(f"#### {line}  \n" for line in text.split("\n"))
            parts.append(f"{said}\n" if role == "user" else f"{text}\n\n> Tokens: 1 sent, 1 received.  \n\n")
    path.write_text("".join(parts))
    return Written("aider chat history", [path], [one.rows for one in made])


def letta(folder: Path, count: int) -> Written:
    """An agent file of Letta with as many agents and blocks."""
    made = talks(count)
    agents = [
        {
            "id": f"agent-{one.number}",
            "name": one.name,
            "messages": [
                {"id": id_, "role": role, "content": [{"type": "text", "text": text}], "created_at": stamp(at)}
                for id_, role, text, at in one.turns()
            ],
        }
        for one in made
    ]
    blocks = [{"id": name, "label": "human", "value": f"block {text}"} for name, text, _ in facts(count)]
    lists: dict[str, Any] = {name: [] for name in ("groups", "files", "sources", "tools", "mcp_servers", "skills")}
    path = _file(folder / "agents.af", {"agents": agents, "blocks": blocks, **lists, "created_at": stamp(_BEGAN)})
    return Written("Letta agent file", [path], [one.rows for one in made], [one["value"] for one in blocks])


def picobot(folder: Path, count: int) -> Written:
    """The sessions of PicoBot."""
    made = talks(count)
    sessions = [
        {
            "id": one.name,
            "channel_type": "Tui",
            "channel_id": "tui",
            "user_id": "tui:local",
            "conversation": [{role.capitalize(): {"content": text}} for role, text in one.rows],
            "created_at": stamp(one.began),
            "last_active": stamp(one.began),
            "state": "Idle",
        }
        for one in made
    ]
    return Written(
        "PicoBot sessions", [_file(folder / "sessions.json", {"sessions": sessions})], [one.rows for one in made]
    )


def zep(folder: Path, count: int) -> Written:
    """Sessions of Zep, a file each, with their facts."""
    made = talks(count)
    paths = [
        _file(
            folder / f"{one.name}.json",
            {
                "messages": [
                    {"uuid": id_, "role": "x", "role_type": role, "content": text, "created_at": stamp(at)}
                    for id_, role, text, at in one.turns()
                ],
                "relevant_facts": [{"uuid": one.name, "fact": f"fact {one.number}", "created_at": stamp(one.began)}],
            },
        )
        for one in made
    ]
    return Written("Zep session memory", paths, [one.rows for one in made], [f"fact {one.number}" for one in made])


def knowledge_graph(folder: Path, count: int) -> Written:
    """The graph of the reference memory server."""
    items = [
        {"type": "entity", "name": name, "entityType": "talk", "observations": [text]} for name, text, _ in facts(count)
    ]
    lines = [*items, *({"type": "relation", "from": one["name"], "to": "x", "relationType": "knows"} for one in items)]
    folder.mkdir(parents=True)
    path = folder / "memory.jsonl"
    path.write_text("\n".join(json.dumps(line, ensure_ascii=False) for line in lines))
    return Written("MCP memory graph", [path], [], [json.dumps(line, ensure_ascii=False) for line in lines])


def mem0_export(folder: Path, count: int) -> Written:
    """What the API of mem0 answers."""
    made = facts(count)
    results = [{"id": name, "memory": text, "user_id": "ann", "created_at": stamp(at)} for name, text, at in made]
    path = _file(folder / "all.json", {"results": results})
    return Written("mem0 memories", [path], [], [text for _, text, _ in made])


def memorysync(folder: Path, count: int) -> Written:
    """An export of MemorySync."""
    made = facts(count)
    memories = [
        {"id": name, "text": text, "retention_status": "active", "created_at": stamp(at)} for name, text, at in made
    ]
    path = _file(folder / "export.json", {"user_id": 7, "generated_at": stamp(_BEGAN), "memories": memories})
    return Written("MemorySync export", [path], [], [text for _, text, _ in made])


FILES: Sequence[Callable[[Path, int], Written]] = (
    *(claude_code, codex, codex_zst, gemini, gemini_legacy, openclaw_file, chatgpt, chatgpt_zip, claude_ai, aider),
    *(letta, picobot, zep, knowledge_graph, mem0_export, memorysync),
)
