"""The samples that are databases, made as their programs make them, with readers of their own."""

import json
import pickle
import re
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import zstandard
from qdrant_client.models import PointStruct

from tests.transfer.foreign_samples import SAMPLES, Row, Sample, copied, sample_lines, texts_of


def opencode(folder: Path) -> Sample:
    tables = json.loads((SAMPLES / "opencode-1.18.33-rows.json").read_text())
    path = folder / ".local/share/opencode/opencode.db"
    path.parent.mkdir(parents=True)
    _database(path, tables)
    return Sample("opencode database", path, opencode_rows(tables), {})


def opencode_rows(tables: Mapping[str, Sequence[Any]]) -> list[Row]:
    rows: list[Row] = []
    for message in tables["message"]:
        parts = [part["data"] for part in tables["part"] if part["message_id"] == message["id"]]
        text = "\n".join(part["text"] for part in parts if part["type"] == "text")
        if text or any(part["type"] == "tool" for part in parts):
            rows.append((message["data"]["role"], text))
    return rows


def _openclaw_rows() -> list[Row]:
    said = (
        one["message"] for one in sample_lines("openclaw-2026.9.6-transcript-events.jsonl") if one["type"] == "message"
    )
    return [(one["role"], texts_of(one["content"])) for one in said]


def openclaw_file(folder: Path) -> Sample:
    place = folder / ".openclaw/agents/main/sessions"
    path = copied(place, "openclaw-2026.9.6-transcript-events.jsonl", "demo1.jsonl")
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


def mem0_qdrant(folder: Path) -> Sample:
    path = folder / "qdrant/collection/mem0/storage.sqlite"
    path.parent.mkdir(parents=True)
    texts = ("Grace is my girlfriend", "I am vegetarian")
    with sqlite3.connect(path) as db:
        db.execute("CREATE TABLE points (id TEXT PRIMARY KEY, point BLOB)")
        for number, text in enumerate(texts):
            payload = {"data": text, "user_id": "ann", "created_at": f"2026-04-0{number + 1}T10:00:00+00:00"}
            point = PointStruct(
                id=f"{number}" * 8 + "-0000-4000-8000-000000000000", vector=[0.5, -1.0], payload=payload
            )
            db.execute("INSERT INTO points VALUES (?, ?)", (str(point.id), pickle.dumps(point)))
    db.close()
    return Sample("mem0 collection in Qdrant", path, [("", text) for text in texts], {})


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
