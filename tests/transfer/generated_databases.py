"""Generated histories in the databases of programs; see `generated_files`."""

import json
import pickle
import sqlite3
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import zstandard
from qdrant_client.models import PointStruct

from tests.transfer.generated_files import Talk, Written, facts, openclaw_events, stamp, talks


@contextmanager
def _database(path: Path) -> Generator[sqlite3.Connection]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(path)) as database, database:
        yield database


def _table(database: sqlite3.Connection, name: str, columns: str, rows: Iterable[Sequence[Any]]) -> None:
    database.execute(f"CREATE TABLE {name} ({columns})")
    marks = ", ".join("?" * len(columns.split(",")))
    database.executemany(f"INSERT INTO {name} VALUES ({marks})", rows)


def _milliseconds(one: Talk, place: int = 0) -> int:
    return int(one.began.timestamp() * 1000) + place


def opencode(folder: Path, count: int) -> Written:
    """The database of opencode: each message has its text in two parts, and one that nobody wrote."""
    made, path = talks(count), folder / "opencode.db"
    messages: list[Sequence[Any]] = []
    parts: list[Sequence[Any]] = []
    for one in made:
        for place, (id_, role, text, _) in enumerate(one.turns()):
            messages.append((id_, one.name, _milliseconds(one, place), json.dumps({"role": role, "modelID": "m"})))
            first, _, rest = text.partition("\n")
            listed = [{"type": "text", "text": first}, *([{"type": "text", "text": rest}] if rest else [])]
            aside = {"type": "text", "text": "made up", "synthetic": True}
            for number, part in enumerate([*listed, {"type": "step-finish"}, aside]):
                parts.append((f"{id_}-{number}", id_, one.name, json.dumps(part)))
    with _database(path) as database:
        columns = "id, title, directory, time_created, time_updated, parent_id"
        sessions = [(one.name, one.name, "/p", _milliseconds(one), _milliseconds(one), None) for one in made]
        _table(database, "session", columns, sessions)
        _table(database, "message", "id, session_id, time_created, data", messages)
        _table(database, "part", "id, message_id, session_id, data", parts)
    return Written("opencode database", [path], [one.rows for one in made])


def openclaw(folder: Path, count: int) -> Written:
    """The database of OpenClaw, in which some events are compressed."""
    made, path = talks(count), folder / "openclaw-agent.sqlite"
    events: list[Sequence[Any]] = []
    for one in made:
        for seq, event in enumerate(openclaw_events(one)):
            line = json.dumps(event)
            plain, packed = (None, zstandard.compress(line.encode())) if (seq + one.number) % 2 else (line, None)
            events.append((one.name, seq, plain, 0, packed))
    with _database(path) as database:
        windows = [(one.name, "agent:main:main", _milliseconds(one), _milliseconds(one), None, None) for one in made]
        columns = "session_id, session_key, created_at, updated_at, channel, display_name"
        _table(database, "session_windows", columns, windows)
        _table(database, "transcript_events", "session_id, seq, event_json, created_at, event_zstd", events)
    return Written("OpenClaw database", [path], [one.rows for one in made])


def _adk(path: Path, count: int, moment: Callable[[Any], Any]) -> Written:
    made = talks(count)
    events: list[Sequence[Any]] = []
    for one in made:
        for id_, author, text, at in one.turns({"assistant": "root"}):
            parts = [{"text": "not said", "thought": True}, {"text": text}]
            data = {"id": id_, "author": author, "timestamp": at.timestamp(), "content": {"parts": parts}}
            events.append((id_, "demo", "ann", one.name, "i", moment(at), json.dumps(data)))
    with _database(path) as database:
        sessions = [("demo", "ann", one.name, "{}", moment(one.began), moment(one.began)) for one in made]
        _table(database, "sessions", "app_name, user_id, id, state, create_time, update_time", sessions)
        columns = "id, app_name, user_id, session_id, invocation_id, timestamp, event_data"
        _table(database, "events", columns, events)
    return Written("ADK sessions database", [path], [one.rows for one in made])


def adk(folder: Path, count: int) -> Written:
    """The database of ADK's `SqliteSessionService`, which Gaia has too."""
    return _adk(folder / "sessions.db", count, lambda at: at.timestamp())


def adk_database(folder: Path, count: int) -> Written:
    """The database of ADK's `DatabaseSessionService`: times as texts."""
    return _adk(folder / "sessions.db", count, lambda at: f"{at:%Y-%m-%d %H:%M:%S.%f}")


def cursor(folder: Path, count: int) -> Written:
    """The database of Cursor: messages under keys, and in every second conversation inside of it."""
    made, path = talks(count), folder / "state.vscdb"
    rows: list[tuple[str, bytes]] = []
    for one in made:
        bubbles = [
            {"bubbleId": id_, "type": 1 if role == "user" else 2, "text": text} for id_, role, text, _ in one.turns()
        ]
        composer: dict[str, Any] = {"composerId": one.name, "name": one.name, "createdAt": _milliseconds(one)}
        if one.number % 2:
            composer["conversation"] = bubbles
        else:
            composer["fullConversationHeadersOnly"] = [
                {name: bubble[name] for name in ("bubbleId", "type")} for bubble in bubbles
            ]
            rows += [(f"bubbleId:{one.name}:{one_['bubbleId']}", json.dumps(one_).encode()) for one_ in bubbles]
        rows.append((f"composerData:{one.name}", json.dumps(composer).encode()))
    with _database(path) as database:
        _table(database, "cursorDiskKV", "key, value", rows)
        database.execute("CREATE INDEX by_key ON cursorDiskKV (key)")
    return Written("Cursor database", [path], [one.rows for one in made])


def mem0_history(folder: Path, count: int) -> Written:
    """The history of mem0: each memory was changed, and every third one deleted."""
    made, path = facts(count), folder / "history.db"
    steps: list[Sequence[Any]] = []
    for number, (name, text, at) in enumerate(made):
        events = [("ADD", None, f"earlier {text}"), ("UPDATE", f"earlier {text}", text)]
        for event, old, new in [*events, *([("DELETE", text, None)] if number % 3 == 2 else [])]:
            steps.append((f"h{len(steps)}", name, old, new, event, stamp(at), None, 0, None, None))
    with _database(path) as database:
        columns = "id, memory_id, old_memory, new_memory, event, created_at, updated_at, is_deleted, actor_id, role"
        _table(database, "history", columns, steps)
    kept = [text for number, (_, text, _) in enumerate(made) if number % 3 != 2]
    return Written("mem0 history database", [path], [], kept)


def mem0_chroma(folder: Path, count: int) -> Written:
    """The collection of mem0 in Chroma, as Gaia has it, with rows of another program."""
    made, path = facts(count), folder / "chroma.sqlite3"
    payloads = [{"data": text, "user_id": "ann", "created_at": stamp(at)} for _, text, at in made]
    others = [{"document": "not a memory"}]
    with _database(path) as database:
        _table(database, "collections", "id, name", [("c", "mem0")])
        everything = list(enumerate([*payloads, *others], start=1))
        _table(database, "embeddings", "id, segment_id, embedding_id", [(at, "s", f"e{at}") for at, _ in everything])
        values = [(at, key, value, None, None, None) for at, payload in everything for key, value in payload.items()]
        columns = "id, key, string_value, int_value, float_value, bool_value"
        _table(database, "embedding_metadata", columns, values)
        database.execute("INSERT INTO embedding_metadata VALUES (1, 'n', NULL, 7, NULL, NULL)")
        database.execute("CREATE INDEX by_id ON embedding_metadata (id)")
    return Written("mem0 collection in Chroma", [path], [], [text for _, text, _ in made])


def mem0_qdrant(folder: Path, count: int) -> Written:
    """The collection of mem0 in Qdrant, which it has unless told otherwise, with points of another program."""
    made, path = facts(count), folder / "storage.sqlite"
    payloads: list[dict[str, Any]] = [{"data": text, "user_id": "ann", "created_at": stamp(at)} for _, text, at in made]
    points = [PointStruct(id=at, vector=[0.5] * 8, payload=one) for at, one in enumerate([*payloads, {"x": [None]}])]
    with _database(path) as database:
        _table(database, "points", "id, point", [(str(one.id), pickle.dumps(one)) for one in points])
    return Written("mem0 collection in Qdrant", [path], [], [text for _, text, _ in made])


def langgraph(folder: Path, count: int) -> Written:
    """The store of LangGraph: texts, and every second one an object."""
    made, path = facts(count), folder / "store.db"
    items = [{"text": text} if at % 2 else {"said": text, "n": at} for at, (_, text, _) in enumerate(made)]
    rows = [
        ("memories.ann", name, json.dumps(item), f"{at:%Y-%m-%d %H:%M:%S}")
        for (name, _, at), item in zip(made, items, strict=True)
    ]
    with _database(path) as database:
        _table(database, "store", "prefix, key, value, created_at", rows)
    texts = [
        str(item["text"]) if "text" in item else json.dumps(item, ensure_ascii=False, sort_keys=True) for item in items
    ]
    return Written("LangGraph store", [path], [], texts)


DATABASES: Sequence[Callable[[Path, int], Written]] = (
    *(opencode, openclaw, adk, adk_database, cursor, mem0_history, mem0_chroma, mem0_qdrant, langgraph),
)
