"""Reads and writes the messages table: the messages of each session in order."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from typing import Any

from recollectum.domain.errors import Conflict
from recollectum.domain.message import Json, Message, Role, TokenCount, ToolCall, ToolStatus
from recollectum.domain.page import LAST_NUMBER
from recollectum.domain.session import ORIGIN
from recollectum.domain.trust import Trust
from recollectum.storage.port import Params, Row, Tx
from recollectum.storage.tables.folding import fold_or_none
from recollectum.storage.times import micros, micros_or_none, moment, moment_or_none

#: The longest extra field, with its name, whose JSON is remembered.
_SHORT = 32
_NUMBER = "SELECT number FROM messages WHERE id = :id"
_COLUMNS = """number, id, session_id, position, role, created_at, text, parts, tool_calls, thoughts, tokens,
    token_estimate, model, native_id, speaker, trust, extra"""
_ADD_NEW = """
    INSERT INTO messages (id, session_id, position, role, created_at, text, parts, tool_calls, thoughts, tokens,
        token_estimate, model, native_id, speaker, trust, extra, speaker_folded, copy_of)
    VALUES (:id, :session_id, :position, :role, :created_at, :text, :parts, :tool_calls, :thoughts, :tokens,
        :token_estimate, :model, :native_id, :speaker, :trust, :extra, :speaker_folded, :copy_of)
    RETURNING number
"""
# Of messages that are text alone: half as many values are passed.
_ADD_TEXTS = """
    INSERT INTO messages (id, session_id, position, role, created_at, text, token_estimate, trust, extra)
    VALUES (:id, :session_id, :position, :role, :created_at, :text, :token_estimate, :trust, :extra)
    RETURNING number
"""
_INSERT = _ADD_NEW.replace("RETURNING number", "ON CONFLICT DO NOTHING RETURNING number, id")
_BY_ID = f"SELECT {_COLUMNS} FROM messages WHERE id = :id"  # noqa: S608  (constants of this file)
_BY_NATIVE = f"SELECT {_COLUMNS} FROM messages WHERE session_id = :session_id AND native_id = :native_id"  # noqa: S608
_KNOWN_IDS = "SELECT id FROM messages WHERE id IN (SELECT value FROM texts(:ids))"
_KNOWN_NATIVES = """
    SELECT native_id FROM messages
     WHERE session_id = :session_id AND native_id IN (SELECT value FROM names(:natives))
"""
_LATEST = f"""
    SELECT {_COLUMNS} FROM messages
     WHERE session_id = :session_id AND position < :before
     ORDER BY position DESC LIMIT :limit
"""  # noqa: S608
_FROM = f"""
    SELECT {_COLUMNS} FROM messages
     WHERE session_id = :session_id AND position > :after ORDER BY position LIMIT :limit
"""  # noqa: S608
_TURN_START = """
    SELECT position FROM messages
     WHERE session_id = :session_id AND role = 'user' ORDER BY position DESC LIMIT 1 OFFSET :skip
"""
_ALL = f"SELECT {_COLUMNS} FROM messages ORDER BY number"  # noqa: S608
_TEXTS = "SELECT number, text FROM messages ORDER BY number"
_FOLLOWING = f"SELECT {_COLUMNS} FROM messages WHERE number > :number ORDER BY number LIMIT :limit"  # noqa: S608
_CALLS = "UPDATE messages SET tool_calls = :tool_calls WHERE id = :id"
_REWRITE = """
    UPDATE messages SET text = :text, parts = :parts, tool_calls = :tool_calls, thoughts = :thoughts,
        token_estimate = :token_estimate, speaker = :speaker, extra = :extra, speaker_folded = :speaker_folded,
        copy_of = :copy_of
     WHERE id = :id
"""
_HOLDING = """
    SELECT {columns} FROM messages WHERE number > :after AND number <= :up_to AND ({holds}) ORDER BY number
"""
# Most messages have their text alone.
_HOLDS = """
    instr(text, :{name}) > 0 OR (coalesce(parts, tool_calls, thoughts, extra, speaker) IS NOT NULL
        AND instr(coalesce(parts, '') || coalesce(tool_calls, '') || coalesce(thoughts, '') || coalesce(extra, '')
            || coalesce(speaker, ''), :{name}) > 0)
"""
_BETWEEN = f"SELECT {_COLUMNS} FROM messages WHERE number > :after AND number <= :up_to ORDER BY number"  # noqa: S608
_LAST_NUMBER = "SELECT coalesce(max(number), 0) FROM messages"
_OF_SESSION = f"SELECT {_COLUMNS} FROM messages WHERE session_id = :session_id"  # noqa: S608


def add_new(tx: Tx, message: Message) -> int:
    """Add a message with a new id at a new position, and return its row number; nobody waits for it to be written."""
    return tx.rows(_ADD_NEW, _to_row(message))[0][0]


def add_all_new(tx: Tx, added: Sequence[Message]) -> list[int]:
    """Add messages with new ids at new positions, and return their row numbers in order."""
    if any(map(_has_more, added)):
        found = tx.add_rows(_ADD_NEW, [_to_row(message) for message in added])
    else:
        found = tx.add_rows(_ADD_TEXTS, [_to_text_row(message) for message in added])
    return sorted(row[0] for row in found)


def insert(tx: Tx, message: Message) -> int:
    """Add a message, and return its row number."""
    return insert_many(tx, [message])[0]


def insert_many(tx: Tx, added: Sequence[Message]) -> list[int]:
    """Add messages, and return their row numbers in order."""
    rows = [_to_row(message) for message in added]
    found = tx.rows(_INSERT, rows[0]) if len(rows) == 1 else tx.add_rows(_INSERT, rows)
    numbers = {message_id: number for number, message_id in found}
    seen: set[str] = set()
    for message in added:
        if message.id not in numbers or message.id in seen:
            raise Conflict(f"message {message.id!r} is in this vault already, or its position in the session is taken")
        seen.add(message.id)
    return [numbers[message.id] for message in added]


def known_ids(tx: Tx, ids: Sequence[str]) -> set[str]:
    """Return those of the ids that a message has."""
    return {row[0] for row in tx.rows(_KNOWN_IDS, {"ids": json.dumps(ids)})} if ids else set()


def known_natives(tx: Tx, session_id: str, natives: Sequence[str]) -> set[str]:
    """Return those of the native ids that a message of the session has."""
    if not natives:
        return set()
    params = {"session_id": session_id, "natives": json.dumps(natives)}
    return {row[0] for row in tx.rows(_KNOWN_NATIVES, params)}


def find(tx: Tx, message_id: str) -> Message | None:
    """Return the message with that id, or None."""
    return _first(tx.rows(_BY_ID, {"id": message_id}))


def number_of(tx: Tx, message_id: str) -> int | None:
    """Return the row number of a message."""
    rows = tx.rows(_NUMBER, {"id": message_id})
    return rows[0][0] if rows else None


def find_native(tx: Tx, session_id: str, native_id: str) -> Message | None:
    """Return the message to which its agent gave that id."""
    return _first(tx.rows(_BY_NATIVE, {"session_id": session_id, "native_id": native_id}))


def latest(tx: Tx, session_id: str, *, before: int | None, limit: int) -> list[Message]:
    """Return the last messages before a position, in order."""
    rows = tx.rows(
        _LATEST, {"session_id": session_id, "before": LAST_NUMBER if before is None else before, "limit": limit}
    )
    return [_from_row(row) for row in reversed(rows)]


def after(tx: Tx, session_id: str, position: int, limit: int) -> list[Message]:
    """Return the messages after a position, in order."""
    rows = tx.rows(_FROM, {"session_id": session_id, "after": position, "limit": limit})
    return [_from_row(row) for row in rows]


def turn_start(tx: Tx, session_id: str, turns: int) -> int:
    """Return the position of the user message that begins the last `turns` turns; 1 when there are fewer."""
    rows = tx.rows(_TURN_START, {"session_id": session_id, "skip": turns - 1})
    return rows[0][0] if rows else 1


def everything(tx: Tx) -> Iterable[tuple[int, Message]]:
    """Return every message with its row number, in insertion order."""
    return ((row[0], _from_row(row)) for row in tx.rows(_ALL, {}))


def texts(tx: Tx) -> list[tuple[int, str]]:
    """Return the input of the index: the row number and text of every message, in insertion order."""
    return [(number, text) for number, text in tx.rows(_TEXTS, {})]


def following(tx: Tx, number: int, limit: int) -> list[tuple[int, Message]]:
    """Return the messages after a row number, of any session, with their row numbers."""
    return [(row[0], _from_row(row)) for row in tx.rows(_FOLLOWING, {"number": number, "limit": limit})]


def set_calls(tx: Tx, message: Message) -> None:
    """Store the current state of a message's tool calls."""
    tx.run(_CALLS, {"id": message.id, "tool_calls": _to_row(message)["tool_calls"]})


def rewrite(tx: Tx, message: Message) -> None:
    """Store the words, tool calls and fields of a message anew; its place, time and author stay."""
    row = _to_row(message)
    names = ("id", "text", "parts", "tool_calls", "thoughts", "token_estimate", "speaker", "extra")
    tx.run(_REWRITE, {name: row[name] for name in (*names, "speaker_folded", "copy_of")})


def holding(tx: Tx, wanted: Sequence[str], *, after: int, up_to: int) -> list[Message]:
    """Return the messages in a range of row numbers that contain one of the texts anywhere."""
    if not tx.reads_texts:
        found = tx.rows(_BETWEEN, {"after": after, "up_to": up_to})
        return [_from_row(row) for row in found if any(text in _everything_in(row) for text in wanted)]
    named = {f"wanted{number}": text for number, text in enumerate(wanted)}
    sql = _HOLDING.format(columns=_COLUMNS, holds=" OR ".join(_HOLDS.format(name=name) for name in named))
    return [_from_row(row) for row in tx.rows(sql, {**named, "after": after, "up_to": up_to})]


def last_number(tx: Tx) -> int:
    """Return the highest row number; 0 when there are no messages."""
    return tx.rows(_LAST_NUMBER, {})[0][0]


def of_session(tx: Tx, session_id: str) -> Iterable[tuple[int, Message]]:
    """Return the messages of a session with their row numbers."""
    return ((row[0], _from_row(row)) for row in tx.rows(_OF_SESSION, {"session_id": session_id}))


def _first(rows: list[Row]) -> Message | None:
    return _from_row(rows[0]) if rows else None


def _everything_in(row: Row) -> str:
    """Return the text, parts, tool calls, thoughts, extra fields and speaker of a row."""
    return "\n".join(value for value in (row[6], row[7], row[8], row[9], row[16], row[14]) if value)


def _from_row(row: Row) -> Message:
    return Message(
        id=row[1],
        session_id=row[2],
        position=row[3],
        role=Role(row[4]),
        created_at=moment(row[5]),
        content=row[6] if row[7] is None else tuple(json.loads(row[7])),
        tool_calls=tuple(map(_call_from_json, json.loads(row[8]))) if row[8] else (),
        thoughts=tuple(json.loads(row[9])) if row[9] else (),
        tokens=TokenCount(**json.loads(row[10])) if row[10] else None,
        token_estimate=row[11],
        model=row[12],
        native_id=row[13],
        speaker=row[14],
        trust=Trust(row[15]),
        extra=json.loads(row[16]) if row[16] else {},
    )


def _to_row(message: Message) -> Params:
    content = message.content
    plain = isinstance(content, str)
    origin = message.extra.get(ORIGIN)
    return {
        "id": message.id,
        "session_id": message.session_id,
        "position": message.position,
        "role": message.role.value,
        "created_at": micros(message.created_at),
        "text": content if plain else message.text,
        "parts": None if plain else json.dumps(content),
        "tool_calls": json.dumps(list(map(_call_to_json, message.tool_calls))) if message.tool_calls else None,
        "thoughts": _json_or_none(message.thoughts),
        "tokens": json.dumps(asdict(message.tokens)) if message.tokens else None,
        "token_estimate": message.token_estimate,
        "model": message.model,
        "native_id": message.native_id,
        "speaker": message.speaker,
        "trust": message.trust.value,
        "extra": _extra_to_json(message.extra),
        "speaker_folded": fold_or_none(message.speaker),
        "copy_of": origin if isinstance(origin, str) else None,
    }


def _json_or_none(value: Iterable[Any]) -> str | None:
    return json.dumps(value) if value else None


def _has_more(message: Message) -> bool:
    """Return whether a message is more than its text and fields that every message has."""
    return bool(
        message.tool_calls
        or message.thoughts
        or message.tokens
        or message.model is not None
        or message.native_id is not None
        or message.speaker is not None
        or not isinstance(message.content, str)
        or ORIGIN in message.extra
    )


def _to_text_row(message: Message) -> Params:
    """Return the row of a message of which `_has_more` is false."""
    return {
        "id": message.id,
        "session_id": message.session_id,
        "position": message.position,
        "role": message.role.value,
        "created_at": micros(message.created_at),
        "text": message.text,
        "token_estimate": message.token_estimate,
        "trust": message.trust.value,
        "extra": _extra_to_json(message.extra),
    }


def _extra_to_json(extra: Mapping[str, Json]) -> str | None:
    if len(extra) == 1:
        # The mark of the program that wrote a message, the same of thousands of them.
        ((name, value),) = extra.items()
        if type(value) is str and len(name) + len(value) <= _SHORT:
            return _pair_to_json(name, value)
    return _json_or_none(extra)


@lru_cache(maxsize=64)
def _pair_to_json(name: str, value: str) -> str:
    return json.dumps({name: value})


def _call_to_json(call: ToolCall) -> dict[str, Any]:
    return {
        "id": call.id,
        "name": call.name,
        "args": call.args,
        "result": call.result,
        "status": call.status,
        "at": micros_or_none(call.at),
        "extra": call.extra,
    }


def _call_from_json(call: dict[str, Any]) -> ToolCall:
    return ToolCall(
        id=call["id"],
        name=call["name"],
        args=call["args"],
        result=call["result"],
        status=ToolStatus(call["status"]),
        at=moment_or_none(call["at"]),
        extra=call["extra"],
    )
