"""Reads the store of LangGraph in SQLite: items with a namespace, a key and a JSON value."""

import json
from collections.abc import Iterator, Mapping

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.storage.foreign.database import ForeignDatabase, Value
from recollectum.transfer.foreign_json import as_object, parse
from recollectum.transfer.forms.building import EPOCH, Talk, optional_moment
from recollectum.transfer.forms.memory_lists import memory_of
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, Progress

AGENT = "langgraph"
NAME = "LangGraph store"
#: Fields of an item that hold its text, if it has one of them.
_TEXTS = ("text", "content", "memory", "data", "value")


def fits(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database has the tables of this form."""
    return {"prefix", "key", "value", "created_at"} <= tables.get("store", frozenset())


def read(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the items, a list for each namespace; a namespace often names a person, so each is one."""
    talk: Talk | None = None
    columns = ("prefix", "key", "value", "created_at")
    for prefix, key, value, created in database.rows("store", columns, order=("prefix", "key")):
        progress(1)
        namespace = str(prefix)
        if talk is None or talk.session.extra["native_id"] != namespace:
            talk = Talk(AGENT, namespace, EPOCH, person=namespace, title=f"LangGraph store {namespace}")
            yield talk.begins
        try:
            item = as_object(parse(_text(value)), "its value")
        except InvalidInput as error:
            yield DamagedPart(f"item {key!r} of {namespace[:80]}", str(error))
            continue
        at = optional_moment(created if isinstance(created, (int, float, str)) else None, EPOCH)
        yield from memory_of(key if isinstance(key, str) else None, text_of_item(item), at, extra={"item": item})


def text_of_item(item: Mapping[str, Json]) -> str:
    """Return the text of an item: its one text field, or the whole value as JSON."""
    found = [item[name] for name in _TEXTS if isinstance(item.get(name), str) and item[name]]
    if len(found) == 1 and len(item) == 1:
        return str(found[0])
    return json.dumps(item, ensure_ascii=False, sort_keys=True)


def _text(value: Value) -> str:
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if not isinstance(value, str):
        raise InvalidInput("its value is not a text")
    return value
