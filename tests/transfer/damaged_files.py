"""Damages the file of a foreign program: its bytes, or values in it, so that it still parses and says something odd."""

import json
import random
import sqlite3
import zipfile
from contextlib import closing
from copy import deepcopy
from io import BytesIO
from pathlib import Path
from typing import Any, cast

import zstandard

_SQLITE = b"SQLite format 3\x00"
_ZIP, _ZSTD = b"PK\x03\x04", b"\x28\xb5\x2f\xfd"
#: What programs do not write, and what a reader may take for granted that they do not.
_ODD: tuple[Any, ...] = (
    *(None, True, False, 0, -1, 1e308, 10**30, float("inf"), float("nan"), 253402300800000, 1e18),
    *(
        "",
        " ",
        "\x00",
        "\ud800",
        "x" * 3000,
        "2026-13-45T99:99:99Z",
        "9999-12-31T23:59:59Z",
        "0001-01-01T00:00:00+14:00",
    ),
    *([], {}, [[]], [None], {"": None}, [{"type": None}], [{"type": "text"}], {"type": "text", "text": {}}),
)
_BYTES = (b"[" * 3000, b'{"a":' * 2000, b"\x00", b'"\\ud800"', b"1e999", b"-1", b"null", b"\xff")


def damaged(data: bytes, chance: random.Random, folder: Path) -> bytes:
    """Return a file with damage: half of them with other bytes, half of them with other values."""
    return _other_bytes(data, chance) if chance.random() < 0.5 else _other_values(data, chance, folder)


def _other_bytes(data: bytes, chance: random.Random) -> bytes:
    """Return the bytes cut short, with some changed, or with a piece repeated or moved."""
    length = len(data)
    match chance.randrange(4):
        case 0:
            return data[: chance.randrange(length)]
        case 1:
            changed = bytearray(data)
            for _ in range(chance.randint(1, 20)):
                changed[chance.randrange(length)] = chance.randrange(256)
            return bytes(changed)
        case 2:
            start, to = sorted((chance.randrange(length), chance.randrange(length)))
            return data[:to] + data[start:]
        case _:
            start, to = sorted((chance.randrange(length), chance.randrange(length)))
            return data[:start] + chance.choice(_BYTES) + data[to:]


def _other_values(data: bytes, chance: random.Random, folder: Path) -> bytes:
    if data.startswith(_SQLITE):
        return _other_rows(data, chance, folder)
    if data.startswith(_ZIP):
        return _other_members(data, chance)
    if data.startswith(_ZSTD):
        return zstandard.compress(_other_text(zstandard.decompress(data), chance))
    return _other_text(data, chance)


def _other_text(data: bytes, chance: random.Random) -> bytes:
    """Return a JSON text, or one of JSON lines, with other values; other text with its lines in another order."""
    text = data.decode()
    changed = _other_json(text, chance)
    if changed is not None:
        return changed.encode("utf-8", "surrogatepass")
    lines = text.splitlines()
    for _ in range(chance.randint(1, 3)):
        at = chance.randrange(len(lines))
        other = _other_json(lines[at], chance)
        lines[at] = other if other is not None else chance.choice([lines[chance.randrange(len(lines))], "#", "> ", ""])
    return "\n".join(lines).encode("utf-8", "surrogatepass")


def _other_json(text: str, chance: random.Random) -> str | None:
    try:
        value: Any = json.loads(text)
    except ValueError:
        return None
    for _ in range(chance.randint(1, 3)):
        value = _changed(value, chance)
    return json.dumps(value, ensure_ascii=chance.random() < 0.8)


def _changed(value: object, chance: random.Random) -> object:
    """Return a value in which one part, at any depth, is another one, is missing or is there twice."""
    if not isinstance(value, dict | list) or not value or chance.random() < 0.15:
        return deepcopy(chance.choice(_ODD))
    holder = cast("dict[Any, Any]", value)
    place = chance.choice(list(holder)) if isinstance(value, dict) else chance.randrange(len(holder))
    kind = chance.random()
    if kind < 0.1:
        del holder[place]
    elif kind >= 0.2:
        holder[place] = _changed(holder[place], chance)
    elif isinstance(value, dict):
        holder["more"] = deepcopy(holder[place])
    else:
        cast("list[Any]", value).append(deepcopy(holder[place]))
    return holder


def _other_members(data: bytes, chance: random.Random) -> bytes:
    made = BytesIO()
    with zipfile.ZipFile(BytesIO(data)) as before, zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as after:
        for name in before.namelist():
            after.writestr(name, _other_text(before.read(name), chance))
    return made.getvalue()


def _other_rows(data: bytes, chance: random.Random, folder: Path) -> bytes:
    """Return a database with other values in some cells, or with a row, a column or a table less."""
    path = folder / "damaged.db"
    path.write_bytes(data)
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode=DELETE")
        database.execute("PRAGMA foreign_keys=OFF")
        for _ in range(chance.randint(1, 3)):
            _change_cell(database, chance)
    made = path.read_bytes()
    path.unlink()
    return made


def _change_cell(database: sqlite3.Connection, chance: random.Random) -> None:
    tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1")]
    rows = {name: database.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in tables}
    table = chance.choice([name for name in tables if rows[name]] or tables)
    column = chance.choice([row[1] for row in database.execute(f'PRAGMA table_info("{table}")')])
    statement = f'UPDATE OR IGNORE "{table}" SET "{column}" = ?'
    found = database.execute(
        f'SELECT "{column}" FROM "{table}" LIMIT 1 OFFSET ?', [chance.randrange(rows[table] or 1)]
    ).fetchone()
    held = found[0] if found else None
    kind = chance.random()
    if kind < 0.05:
        statement, values = f'ALTER TABLE "{table}" RENAME COLUMN "{column}" TO other_{chance.randrange(999)}', ()
    elif kind < 0.08:
        statement, values = f'DELETE FROM "{table}"', ()
    else:
        other = _other_json(held, chance) if isinstance(held, str) else None
        values = (other if other is not None else _cell(chance),)
    try:
        database.execute(statement, values)
    except (sqlite3.Error, OverflowError, UnicodeEncodeError):
        # The database keeps a rule of its own: this damage cannot be.
        return


def _cell(chance: random.Random) -> object:
    odd = chance.choice((*_ODD, b"\xff\xfe", b"", b"(\xb5/\xfd"))
    return json.dumps(odd) if isinstance(odd, dict | list | bool) else odd
