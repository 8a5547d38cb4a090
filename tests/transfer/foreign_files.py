"""The samples as files that programs write, with readers of their own that say what is in them."""

import json
import re
import shutil
import sqlite3
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zstandard

SAMPLES = Path(__file__).parent / "samples"
#: Who speaks, and the text; a memory is spoken by nobody.
Row = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Sample:
    """A file of a form, and what an independent reader finds in it."""

    name: str
    path: Path
    rows: list[Row]
    #: What is not imported, with its count.
    left_out: dict[str, int]


def _copy(folder: Path, sample: str, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    return Path(shutil.copy(SAMPLES / sample, folder / name))


def _lines(sample: str) -> Iterator[Any]:
    return (json.loads(line) for line in (SAMPLES / sample).read_text().splitlines())


def _texts(content: str | list[dict[str, Any]]) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content if isinstance(part.get("text"), str))


def claude_code(folder: Path) -> Sample:
    rows: list[Row] = []
    for line in _lines("claude-code-2.1.197.jsonl"):
        if line["type"] not in ("user", "assistant") or line.get("isMeta") or line.get("isCompactSummary"):
            continue
        content, text = line["message"]["content"], _texts(line["message"]["content"])
        used = '"tool_use"' in json.dumps(content)
        synthetic = line["message"].get("model") == "<synthetic>"
        wrapped = text.startswith(("<command-", "<local-command-"))
        if (text or used) and not synthetic and not wrapped:
            rows.append((line["type"], text))
    path = _copy(folder / ".claude/projects/-home-ann-proj", "claude-code-2.1.197.jsonl", "1b0f.jsonl")
    return Sample("Claude Code transcript", path, rows, {})


def _codex_rows() -> list[Row]:
    rows: list[Row] = []
    for line in _lines("codex-0.166.0-rollout.jsonl"):
        item = line["payload"]
        if line["type"] != "response_item":
            continue
        if item["type"] == "function_call":
            rows.append(("assistant", ""))
        elif item["type"] == "message" and item["role"] in ("user", "assistant"):
            text = _texts(item["content"])
            if not text.startswith(("<environment_context>", "<user_instructions>")):
                rows.append((item["role"], text))
    return rows


def codex(folder: Path) -> Sample:
    path = _copy(folder / ".codex/sessions/2026/11/15", "codex-0.166.0-rollout.jsonl", "rollout-1.jsonl")
    return Sample("Codex transcript", path, _codex_rows(), {})


def codex_zst(folder: Path) -> Sample:
    made = folder / ".codex/archived_sessions/rollout-2.jsonl.zst"
    made.parent.mkdir(parents=True)
    made.write_bytes(zstandard.compress((SAMPLES / "codex-0.166.0-rollout.jsonl").read_bytes()))
    return Sample("Codex transcript", made, _codex_rows(), {})


def gemini(folder: Path) -> Sample:
    found: dict[str, Any] = {}
    for line in _lines("gemini-cli-0.61.0-session.jsonl"):
        if "messages" in line.get("$set", {}):
            found = {one["id"]: one for one in line["$set"]["messages"]}
        elif "id" in line:
            found[line["id"]] = line
    rows: list[Row] = []
    for one in found.values():
        text = _texts(one["content"])
        answered = isinstance(one["content"], list) and "functionResponse" in one["content"][0]
        role = "tool" if answered else str({"gemini": "assistant"}.get(one["type"], one["type"]))
        # The program's own words to its model are cut out, up to the mark that ends them.
        if not text.startswith("<session_context>") or "[trimmed]" in text:
            rows.append((role, text))
    path = _copy(folder / ".gemini/tmp/proj/chats", "gemini-cli-0.61.0-session.jsonl", "session-1.jsonl")
    return Sample("Gemini CLI transcript", path, rows, {})


def gemini_legacy(folder: Path) -> Sample:
    record = json.loads((SAMPLES / "gemini-cli-legacy-session.json").read_text())
    rows = [(str({"gemini": "assistant"}.get(one["type"], one["type"])), one["content"]) for one in record["messages"]]
    path = _copy(folder / ".gemini/tmp/9f/chats", "gemini-cli-legacy-session.json", "session-old.json")
    return Sample("Gemini CLI transcript", path, rows, {})


def chatgpt(folder: Path) -> Sample:
    path = _copy(folder, "chatgpt-export-conversations-000.json", "conversations-000.json")
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
    path = _copy(folder, "claude-ai-export-conversations.json", "conversations.json")
    rows = [("user", "My colour is teal\n\n[n.txt]\nabc"), ("assistant", "Noted.")]
    return Sample("Claude.ai export", path, rows, {"attachment": 1})


def opencode(folder: Path) -> Sample:
    tables = json.loads((SAMPLES / "opencode-1.18.33-rows.json").read_text())
    path = folder / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    _database(path, tables)
    rows: list[Row] = []
    for message in tables["message"]:
        parts = [part["data"] for part in tables["part"] if part["message_id"] == message["id"]]
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        if text or any(part["type"] == "tool" for part in parts):
            rows.append((message["data"]["role"], text))
    return Sample("opencode database", path, rows, {})


def _openclaw_rows() -> list[Row]:
    said = (one["message"] for one in _lines("openclaw-2026.9.6-transcript-events.jsonl") if one["type"] == "message")
    return [(one["role"], _texts(one["content"])) for one in said]


def openclaw_file(folder: Path) -> Sample:
    place = folder / ".openclaw/agents/main/sessions"
    path = _copy(place, "openclaw-2026.9.6-transcript-events.jsonl", "demo1.jsonl")
    return Sample("OpenClaw transcript", path, _openclaw_rows(), {})


def openclaw(folder: Path) -> Sample:
    path = folder / ".openclaw/agents/main/agent/openclaw-agent.sqlite"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE session_windows (session_id TEXT NOT NULL PRIMARY KEY, session_key TEXT NOT NULL,"
            " created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, channel TEXT, display_name TEXT) STRICT"
        )
        db.execute(
            "CREATE TABLE transcript_events (session_id TEXT NOT NULL, seq INTEGER NOT NULL, event_json TEXT,"
            " created_at INTEGER NOT NULL, event_zstd BLOB, PRIMARY KEY (session_id, seq)) STRICT"
        )
        db.execute(
            "INSERT INTO session_windows VALUES ('demo1', 'agent:main:main', 1794727182530, 1794727191099, NULL, NULL)"
        )
        lines = (SAMPLES / "openclaw-2026.9.6-transcript-events.jsonl").read_bytes().splitlines()
        for seq, line in enumerate(lines):
            # Newer versions compress some events.
            plain, packed = (None, zstandard.compress(line)) if seq % 2 else (line.decode(), None)
            db.execute("INSERT INTO transcript_events VALUES ('demo1', ?, ?, 0, ?)", (seq, plain, packed))
    db.close()
    return Sample("OpenClaw database", path, _openclaw_rows(), {})


def adk(folder: Path) -> Sample:
    path = folder / ".gaia/sessions.db"
    path.parent.mkdir(parents=True)
    db = sqlite3.connect(path)
    db.executescript((SAMPLES / "adk-2.13-sessions.db.sql").read_text())
    events = db.execute("SELECT event_data FROM events ORDER BY session_id, timestamp").fetchall()
    db.close()
    rows: list[Row] = []
    for (data,) in events:
        event = json.loads(data)
        (part,) = event["content"]["parts"]
        role = "user" if event["author"] == "user" else "tool" if "function_response" in part else "assistant"
        rows.append((role, part.get("text", "")))
    return Sample("ADK sessions database", path, rows, {})


def adk_database(folder: Path) -> Sample:
    """The second form of `DatabaseSessionService`: times as texts, and a table of its own version."""
    path = adk(folder).path
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE adk_internal_metadata (key VARCHAR(128) PRIMARY KEY, value VARCHAR(256))")
        db.execute("INSERT INTO adk_internal_metadata VALUES ('schema_version', '1')")
        db.execute(
            "UPDATE sessions SET create_time = '2026-11-15 06:56:35.906746', update_time = '2026-11-15 06:56:39'"
        )
        db.execute("UPDATE events SET timestamp = strftime('%Y-%m-%d %H:%M:%f', timestamp, 'unixepoch')")
    db.close()
    return Sample("ADK sessions database", path, adk(folder / "again").rows, {})


def aider(folder: Path) -> Sample:
    path = _copy(folder / "repo", "aider.chat.history.md", ".aider.chat.history.md")
    rows = [
        ("user", "remember I prefer tabs\nand teal"),
        ("assistant", "Understood: tabs and teal."),
        ("user", "/add a.py"),
    ]
    return Sample("aider chat history", path, rows, {})


def letta(folder: Path) -> Sample:
    rows = [("", "Name: Ann. Likes teal."), ("user", "My colour is teal")]
    return Sample("Letta agent file", _copy(folder, "letta-0.16.8-agent.af", "ann.af"), rows, {"tool": 1})


def knowledge_graph(folder: Path) -> Sample:
    rows = [("", json.dumps(line, ensure_ascii=False)) for line in _lines("mcp-server-memory-2026.8.31.jsonl")]
    return Sample("MCP memory graph", _copy(folder, "mcp-server-memory-2026.8.31.jsonl", "memory.jsonl"), rows, {})


def mem0_export(folder: Path) -> Sample:
    rows = [("", "Ann likes teal"), ("", "Ann works at Acme")]
    return Sample("mem0 memories", _copy(folder, "mem0-get-all.json", "mem0.json"), rows, {})


def mem0_history(folder: Path) -> Sample:
    path = folder / ".mem0/history.db"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE history (id TEXT PRIMARY KEY, memory_id TEXT, old_memory TEXT, new_memory TEXT, event TEXT,"
            " created_at DATETIME, updated_at DATETIME, is_deleted INTEGER, actor_id TEXT, role TEXT)"
        )
        steps = [
            ("h1", "m1", None, "Ann likes green", "ADD", "2026-03-01T10:00:00+00:00"),
            ("h2", "m2", None, "Ann works at Acme", "ADD", "2026-03-01T10:00:01+00:00"),
            ("h3", "m1", "Ann likes green", "Ann likes teal", "UPDATE", "2026-03-01T10:00:00+00:00"),
            ("h4", "m2", "Ann works at Acme", None, "DELETE", None),
            ("h5", "m3", None, "Ann speaks French", "ADD", "2026-03-04T10:00:00+00:00"),
        ]
        db.executemany("INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, NULL, 0, NULL, NULL)", steps)
    db.close()
    return Sample("mem0 history database", path, [("", "Ann likes teal"), ("", "Ann speaks French")], {})


def mem0_chroma(folder: Path) -> Sample:
    path = folder / ".gaia/memory/chroma/chroma.sqlite3"
    path.parent.mkdir(parents=True)
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE collections (id TEXT PRIMARY KEY, name TEXT NOT NULL)")
        db.execute(
            "CREATE TABLE embeddings (id INTEGER PRIMARY KEY, segment_id TEXT NOT NULL, embedding_id TEXT NOT NULL)"
        )
        db.execute(
            "CREATE TABLE embedding_metadata (id INTEGER, key TEXT NOT NULL, string_value TEXT, int_value INTEGER,"
            " float_value REAL, bool_value INTEGER, PRIMARY KEY (id, key))"
        )
        for number, text in enumerate(("Grace is my girlfriend", "I am vegetarian"), start=1):
            db.execute("INSERT INTO embeddings VALUES (?, 'seg', ?)", (number, f"e{number}"))
            payload = {"data": text, "user_id": "ann", "created_at": f"2026-04-0{number}T10:00:00+00:00"}
            for key, value in payload.items():
                db.execute("INSERT INTO embedding_metadata VALUES (?, ?, ?, NULL, NULL, NULL)", (number, key, value))
    db.close()
    return Sample("mem0 collection in Chroma", path, [("", "Grace is my girlfriend"), ("", "I am vegetarian")], {})


def langgraph(folder: Path) -> Sample:
    folder.mkdir(parents=True)
    path = folder / "store.db"
    with sqlite3.connect(path) as db:
        db.execute(
            "CREATE TABLE store (prefix text NOT NULL, key text NOT NULL, value text NOT NULL,"
            " created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, updated_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP,"
            " PRIMARY KEY (prefix, key))"
        )
        items = [("colour", {"text": "Ann likes teal"}), ("work", {"place": "Acme", "since": 2020})]
        for key, value in items:
            db.execute(
                "INSERT INTO store VALUES ('memories.ann', ?, ?, '2026-03-01 10:00:00', '2026-03-01 10:00:00')",
                (key, json.dumps(value)),
            )
    db.close()
    rows = [("", "Ann likes teal"), ("", '{"place": "Acme", "since": 2020}')]
    return Sample("LangGraph store", path, rows, {})


def picobot(folder: Path) -> Sample:
    record = json.loads((SAMPLES / "picobot-sessions.json").read_text())
    said = (one for session in record["sessions"] for one in session["conversation"])
    rows = [(who.lower(), body["content"]) for one in said for who, body in one.items()]
    return Sample("PicoBot sessions", _copy(folder / "data", "picobot-sessions.json", "sessions.json"), rows, {})


def memorysync(folder: Path) -> Sample:
    rows = [("", "Prefers dark mode."), ("", "Lives in Lyon.")]
    path = _copy(folder, "memorysync-export.json", "memorysync.json")
    return Sample("MemorySync export", path, rows, {"deleted memory": 1})


def zep(folder: Path) -> Sample:
    rows = [("user", "My colour is teal"), ("assistant", "Noted."), ("", "Ann likes teal")]
    return Sample("Zep session memory", _copy(folder, "zep-session-memory.json", "zep.json"), rows, {})


def cursor(folder: Path) -> Sample:
    path = folder / ".config/Cursor/User/globalStorage/state.vscdb"
    path.parent.mkdir(parents=True)
    bubbles = [
        ("b1", 1, {"text": "My colour is teal", "images": [{"uuid": "i"}]}),
        ("b2", 2, {"text": "", "toolFormerData": {"name": "read_file", "rawArgs": '{"path": "a"}', "result": "x"}}),
        ("b3", 2, {"text": "Noted."}),
    ]
    composer = {
        "composerId": "c1",
        "name": "Colours",
        "createdAt": 1760000000000,
        "lastUpdatedAt": 1760000100000,
        "fullConversationHeadersOnly": [{"bubbleId": id_, "type": kind} for id_, kind, _ in bubbles],
    }
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB)")
        db.execute("INSERT INTO cursorDiskKV VALUES ('composerData:c1', ?)", (json.dumps(composer).encode(),))
        for id_, kind, bubble in bubbles:
            value = json.dumps({"_v": 3, "type": kind, "bubbleId": id_, **bubble}).encode()
            db.execute("INSERT INTO cursorDiskKV VALUES (?, ?)", (f"bubbleId:c1:{id_}", value))
    db.close()
    rows = [("user", "My colour is teal"), ("assistant", ""), ("assistant", "Noted.")]
    return Sample("Cursor database", path, rows, {"attachment": 1})


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


def _database(path: Path, tables: dict[str, list[dict[str, Any]]]) -> None:
    """Make a database with these rows; objects are written as JSON."""
    with sqlite3.connect(path) as db:
        db.execute("PRAGMA journal_mode = wal")
        for name, rows in tables.items():
            assert re.fullmatch("[a-z]+", name)
            names = list(rows[0])
            db.execute(f"CREATE TABLE {name} ({', '.join(names)})")
            marks = ", ".join("?" * len(names))
            for row in rows:
                values = [json.dumps(one) if isinstance(one, dict) else one for one in row.values()]
                db.execute(f"INSERT INTO {name} VALUES ({marks})", values)
    db.close()


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)
