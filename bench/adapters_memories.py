"""The adapters that keep and search memories, against the stores of their frameworks."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import ctypes
import os
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import sqlite_vec
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory._sqlite_memory_service import SqliteMemoryService
from google.genai import types
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from bench.adapters_race import Other, Row, Work, bare_rows, looked
from bench.adapters_set import EMBEDDER, Set, in_batches
from recollectum import Recollectum
from recollectum.adapters.adk import RecollectumMemoryService
from recollectum.adapters.anthropic import RecollectumMemoryTool
from recollectum.adapters.langgraph import RecollectumStore
from recollectum.adapters.mem0 import RecollectumMemory

_NAMESPACE = ("memories", "ann")
_APP: dict[str, Any] = {"app_name": "demo", "user_id": "ann"}


#: Whether this Python was built to load extensions of SQLite; where it was not, SQLite is told of them by its library.
_CAN_LOAD = hasattr(sqlite3.Connection, "load_extension")


class _Told(sqlite3.Connection):
    """A connection to a SQLite that knows sqlite-vec already."""

    def enable_load_extension(self, enable: bool, /) -> None:  # noqa: FBT001 - as the class has it where it can
        """Do nothing: it is loaded."""

    def load_extension(self, name: str, /, *, entrypoint: str | None = None) -> None:
        """Do nothing: it is loaded."""


_Connection = sqlite3.Connection if _CAN_LOAD else _Told


async def langgraph(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """LangGraph's store, against its two stores in SQLite and the one in memory."""

    def put(store: BaseStore) -> Work[list[tuple[int, str]]]:
        return lambda batch: store.batch([PutOp(_NAMESPACE, str(at), {"text": text}) for at, text in batch])

    index: Any = {"dims": EMBEDDER.identity.dimensions, "embed": EMBEDDER.lists}
    with _with_vectors():
        indexed = _store(place / "vec.db", index=index)
    others: list[tuple[Other, BaseStore]] = [
        (Other("SqliteStore with its vector index", "vectors", syncs=True), indexed),
        (Other("SqliteStore without an index", syncs=True), _store(place / "plain.db")),
        (Other("InMemoryStore with an index", "vectors", keeps=False), InMemoryStore(index=index)),
    ]
    rows: list[Row] = []
    for number, (other, theirs) in enumerate(others):
        vault = home.vault(f"user:langgraph-{number}")
        ours = RecollectumStore(vault)
        row = Row("LangGraph store", data.size, other)
        await row.write(in_batches(data.texts), put(ours), put(theirs))
        if other.indexes:
            data.told(vault, row)
            row.search = await looked(
                data.queries,
                lambda query, ours=ours: ours.search(_NAMESPACE, query=query),
                lambda query, theirs=theirs: theirs.search(_NAMESPACE, query=query),
            )
        rows.append(row)
    bare = await bare_rows(
        place / "lg",
        "user:ann",
        in_batches(data.texts),
        lambda home: put(RecollectumStore(home.vault("user:ann"))),
    )
    for row in rows:
        row.bare = bare
    return rows


def _store(path: Path, **options: Any) -> SqliteStore:  # noqa: ANN401 - as the class
    # As `from_conn_string` opens it.
    connection = sqlite3.connect(path, check_same_thread=False, isolation_level=None, factory=_Connection)
    store = SqliteStore(connection, **options)
    store.setup()
    return store


@contextmanager
def _with_vectors() -> Generator[None]:
    """Let SQLite know sqlite-vec on each connection that is opened meanwhile."""
    if _CAN_LOAD:
        yield
        return
    maps = Path("/proc/self/maps").read_text(encoding="ascii", errors="replace").split()
    library = ctypes.CDLL(next(one for one in maps if "libsqlite3" in one))
    entry = ctypes.CDLL(f"{sqlite_vec.loadable_path()}.so").sqlite3_vec_init
    library.sqlite3_auto_extension(ctypes.cast(entry, ctypes.c_void_p))
    try:
        yield
    finally:
        library.sqlite3_cancel_auto_extension(ctypes.cast(entry, ctypes.c_void_p))


async def adk_memory(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """ADK's memory service, against the one that it brings."""

    def add(service: BaseMemoryService) -> Work[list[Event]]:
        return lambda events: service.add_events_to_memory(**_APP, events=events, session_id="s")

    ours, theirs = RecollectumMemoryService(home), SqliteMemoryService(str(place / "adk.db"))
    batches = [[_event(at, text) for at, text in batch] for batch in in_batches(data.texts)]
    row = Row("ADK memory", data.size, Other("SqliteMemoryService", "full text"))
    await row.write(batches, add(ours), add(theirs))
    data.told(home.vault("user:ann"), row)
    row.search = await looked(
        data.queries,
        lambda query: ours.search_memory(**_APP, query=query),
        lambda query: theirs.search_memory(**_APP, query=query),
    )
    row.bare = await bare_rows(place / "adk", "user:ann", batches, lambda home: add(RecollectumMemoryService(home)))
    return [row]


def _event(number: int, text: str) -> Event:
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(id=f"e{number}", author="user", content=content, timestamp=2e9 + number)


async def anthropic(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """Anthropic's memory tool: one file for each item, in folders of 100."""

    def create(tool: Any) -> Work[tuple[int, str]]:  # noqa: ANN401 - the two have no class in common
        return lambda one: tool.call({"command": "create", "path": _path(one[0]), "file_text": one[1]})

    def view(tool: Any) -> Work[int]:  # noqa: ANN401
        return lambda number: tool.call({"command": "view", "path": _path(number)})

    def every(_: str) -> list[str]:
        return [str(view(theirs)(number)) for number in range(data.size)]

    vault = home.vault("user:anthropic")
    ours, theirs = RecollectumMemoryTool(vault), BetaLocalFilesystemMemoryTool(str(place / "files"))
    row = Row("Anthropic memory tool", data.size, Other("BetaLocalFilesystemMemoryTool", syncs=True))
    await row.write(enumerate(data.texts), create(ours), create(theirs))
    data.told(vault, row)
    row.search = await looked(
        data.queries[:3], lambda query: vault.recall(query, limit=20), every, "recall here, a view of every file there"
    )
    some = range(0, data.size, max(1, data.size // len(data.queries)))
    row.read = await looked(some, view(ours), view(theirs), "the view of one file")
    row.bare = await bare_rows(
        place / "anthropic",
        "user:ann",
        list(enumerate(data.texts)),
        lambda home: create(RecollectumMemoryTool(home.vault("user:ann"))),
    )
    return [row]


def _path(number: int) -> str:
    return f"/memories/{number // 100}/{number}.md"


async def mem0(home: Recollectum, place: Path, data: Set) -> list[Row]:
    """mem0's memory with its local Qdrant: one call for each item, because `add` takes one conversation."""
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(place / "mem0"), OPENAI_API_KEY="none")
    # Imported here: it reads its settings when it is imported, and takes seconds.
    import mem0 as brought  # noqa: PLC0415
    from mem0.embeddings.openai import OpenAIEmbedding  # noqa: PLC0415

    def add(memory: Any) -> Work[str]:  # noqa: ANN401 - the two have no class in common
        return lambda text: memory.add(text, user_id="mem0", infer=False)

    def find(memory: Any) -> Work[str]:  # noqa: ANN401
        return lambda query: memory.search(query, filters={"user_id": "mem0"})

    def embed_one(_: object, text: str, *__: object, **___: object) -> list[float]:
        return EMBEDDER.lists([text])[0]

    def embed_many(_: object, given: list[str], *__: object, **___: object) -> list[list[float]]:
        return EMBEDDER.lists(given)

    store = {"path": str(place / "qdrant"), "embedding_model_dims": EMBEDDER.identity.dimensions}
    config = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(place / "history.db")}
    one = mock.patch.object(OpenAIEmbedding, "embed", embed_one)
    many = mock.patch.object(OpenAIEmbedding, "embed_batch", embed_many)
    row = Row("mem0", data.size, Other("Memory with its local Qdrant", "vectors", syncs=True))
    with one, many:
        ours, theirs = RecollectumMemory(home), brought.Memory.from_config(config)
        await row.write(data.texts, add(ours), add(theirs))
        data.told(home.vault("user:mem0"), row)
        row.search = await looked(data.queries, find(ours), find(theirs))
    row.bare = await bare_rows(place / "bare0", "user:mem0", data.texts, lambda home: add(RecollectumMemory(home)))
    return [row]
