"""Reads the memories of mem0: its history, its collections in Qdrant and in Chroma, and the export of its API."""

from collections.abc import Iterator, Mapping
from io import BufferedReader
from typing import BinaryIO, cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.storage.foreign.database import ForeignDatabase, Value
from recollectum.transfer.forms.building import EPOCH, Talk, optional_moment, text_or_none
from recollectum.transfer.forms.json_files import list_elements, read_object
from recollectum.transfer.forms.memory_lists import memory_of
from recollectum.transfer.plain_pickle import plain_value
from recollectum.vault.files.foreign_sources import DamagedPart, ForeignItem, Progress

AGENT = "mem0"
HISTORY_NAME = "mem0 history database"
CHROMA_NAME = "mem0 collection in Chroma"
QDRANT_NAME = "mem0 collection in Qdrant"
EXPORT_NAME = "mem0 memories"
_HISTORY = frozenset({"memory_id", "new_memory", "event", "created_at"})
_POINT = frozenset({"id", "point"})
#: How the payload of a memory names its text, in Chroma and in an export.
_TEXTS = ("memory", "data")
_HEAD = 64
_LONGEST_LIST = 100
_OWNERS = ("user_id", "agent_id", "run_id")
#: What mem0 itself writes into a payload; everything else is what a program gave as metadata.
_OWN = frozenset(
    {"id", "hash", "created_at", "updated_at", "text_lemmatized", "metadata", "categories", *_OWNERS, *_TEXTS}
)
_VALUES = ("string_value", "int_value", "float_value", "bool_value")


def fits_history(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database is the history of mem0."""
    return tables.get("history", frozenset()) >= _HISTORY


def fits_chroma(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database is one of Chroma."""
    return {"embeddings", "embedding_metadata", "collections"} <= tables.keys()


def fits_qdrant(tables: Mapping[str, frozenset[str]]) -> bool:
    """Return whether a database is a collection that Qdrant keeps in a file of this machine."""
    return tables.get("points", frozenset()) == _POINT


def is_export(value: Mapping[str, Json]) -> bool:
    """Return whether an object is one memory of the API."""
    return isinstance(value.get("memory"), str) and "id" in value


def read_history(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the memories that the history ends with; it names no person."""
    talk = Talk(AGENT, "history", EPOCH, title="mem0 memories")
    yield talk.begins
    last: tuple[Value, Value, Value, Value] | None = None
    # The rows of one memory come together, as they were written, so that only one memory is held. Their times do not
    # order them: a change has the time of the memory, and a deletion may have none.
    for row in database.rows(
        "history", ("memory_id", "new_memory", "event", "created_at"), order=("memory_id", "rowid")
    ):
        progress(1)
        if last is not None and last[0] != row[0]:
            yield from _of_history(last)
        last = (row[0], row[1], row[2], row[3])
    if last is not None:
        yield from _of_history(last)


def _of_history(row: tuple[Value, Value, Value, Value]) -> Iterator[ForeignItem]:
    native, text, event, at = row
    if event != "DELETE":
        yield from memory_of(_json(native), _json(text), optional_moment(_json(at), EPOCH))


def read_chroma(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the memories of the collection; those that hold no text of mem0 are skipped."""
    talk: Talk | None = None
    for number, native in database.rows("embeddings", ("id", "embedding_id"), order=("id",)):
        progress(1)
        payload: dict[str, Json] = {}
        for key, *values in database.rows("embedding_metadata", ("key", *_VALUES), where={"id": number}):
            payload[str(key)] = next((_json(value) for value in values if value is not None), None)
        if _text(payload) is None:
            continue
        before, talk = talk, _owned(talk, payload)
        if talk is not before:
            yield talk.begins
        yield from _memory({**payload, "id": _json(native)})


def read_qdrant(database: ForeignDatabase, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the memories of the collection; those that hold no text of mem0 are skipped."""
    talk: Talk | None = None
    for place, (point,) in enumerate(database.rows("points", ("point",), order=("rowid",)), start=1):
        progress(1)
        try:
            native, payload = _point(point)
        except InvalidInput as error:
            yield DamagedPart(f"point {place}", str(error))
            continue
        if _text(payload) is None:
            continue
        before, talk = talk, _owned(talk, payload)
        if talk is not before:
            yield talk.begins
        yield from _memory({**payload, "id": native})


def _point(value: Value) -> tuple[Json, dict[str, Json]]:
    """Return the id and the payload of a pickled point."""
    if not isinstance(value, bytes):
        raise InvalidInput("it is not pickled data")
    found = cast("object", plain_value(value))
    payload = cast("dict[str, object]", found).get("payload") if isinstance(found, dict) else None
    if not isinstance(payload, dict):
        raise InvalidInput("it has no payload")
    named = cast("dict[str, object]", payload).items()
    kept = {str(name): cast("Json", one) for name, one in named if _is_plain(one)}
    return str(cast("dict[str, object]", found).get("id")), kept


def _is_plain(value: object) -> bool:
    """Return whether a value is a text, a number, or a short list of them: objects that hold each other are not."""
    if isinstance(value, list):
        listed = cast("list[object]", value)
        return len(listed) <= _LONGEST_LIST and all(isinstance(one, (str, int, float)) for one in listed)
    return isinstance(value, (str, int, float))


def read_export(file: BinaryIO, progress: Progress) -> Iterator[ForeignItem]:
    """Yield the memories of an answer of the API: a list, or an object with `results`."""
    head = cast("BufferedReader", file).peek(_HEAD)
    if head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"["):
        found: Iterator[Json | DamagedPart] = list_elements(file, progress)
    else:
        results = read_object(file, progress).get("results")
        found = iter(results if isinstance(results, list) else [])
    talk: Talk | None = None
    for number, value in enumerate(found, start=1):
        if isinstance(value, DamagedPart):
            yield value
        elif not isinstance(value, dict):
            yield DamagedPart(f"memory {number}", "it is not an object")
        else:
            before, talk = talk, _owned(talk, value)
            if talk is not before:
                yield talk.begins
            yield from _memory(value)


def _owned(talk: Talk | None, payload: Mapping[str, Json]) -> Talk:
    """Return the list of the owner of a memory, the same one as long as the owner is the same."""
    owner = next((text_or_none(payload.get(name)) for name in _OWNERS if text_or_none(payload.get(name))), None)
    native = owner or "everybody"
    if talk is not None and talk.session.extra["native_id"] == native:
        return talk
    return Talk(AGENT, native, EPOCH, person=owner, title="mem0 memories")


def _memory(value: Mapping[str, Json]) -> Iterator[ForeignItem]:
    at = optional_moment(value.get("created_at"), EPOCH)
    given: dict[str, Json] = {name: one for name, one in value.items() if name not in _OWN and one is not None}
    extra = {name: value.get(name) for name in ("categories", *_OWNERS)} | {"metadata": value.get("metadata") or given}
    yield from memory_of(value.get("id"), _text(value), at, extra=extra)


def _text(payload: Mapping[str, Json]) -> str | None:
    return next((text for name in _TEXTS if (text := text_or_none(payload.get(name)))), None)


def _json(value: Value) -> Json:
    return value if isinstance(value, (int, float, str)) else None
