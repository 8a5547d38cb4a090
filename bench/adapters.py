"""Compares writing and searching through each adapter with the store that its framework brings, in one run."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false, reportUnknownVariableType=false

import asyncio
import os
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, cast
from unittest import mock

from agents.memory import SQLiteSession
from anthropic.lib.tools._beta_builtin_memory_tool import BetaLocalFilesystemMemoryTool
from google.adk.events import Event
from google.adk.memory import BaseMemoryService
from google.adk.memory._sqlite_memory_service import SqliteMemoryService
from google.genai import types
from langgraph.store.base import BaseStore, PutOp
from langgraph.store.memory import InMemoryStore
from langgraph.store.sqlite import SqliteStore

from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.adapters.adk import RecollectumMemoryService
from recollectum.adapters.anthropic import RecollectumMemoryTool
from recollectum.adapters.langgraph import RecollectumStore
from recollectum.adapters.mem0 import RecollectumMemory
from recollectum.adapters.openai_agents import RecollectumSession
from recollectum.domain.models.embedder import Purpose
from recollectum.testing import ScriptedEmbedder

_ITEMS = sized(10_000, 60)
_BATCH = 20
#: Of adapters that take one item with each call: mem0's own store needs a minute for each thousand.
_ONE_BY_ONE = sized(2_000, 60)
_SEARCHES = sized(15, 2)
_WORDS = [f"{first}{second}" for first in ("tea", "door", "sun", "rain", "book", "road") for second in range(400)]
_NAMESPACE = ("memories", "ann")
_EMBEDDER = ScriptedEmbedder()
_APP: dict[str, Any] = {"app_name": "demo", "user_id": "ann"}


class Took(NamedTuple):
    """Seconds of a work: on the clock, and on processors."""

    wall: float
    cpu: float


def main() -> None:
    rnd = random.Random(1)
    texts = [" ".join(rnd.choices(_WORDS, k=12)) for _ in range(_ITEMS)]
    queries = [" ".join(rnd.choices(_WORDS, k=3)) for _ in range(_SEARCHES)]
    print(
        f"{_ITEMS} items, {_ONE_BY_ONE} where a call takes one; times are seconds for all writes, and the median of a "
        "search or read\n"
    )
    print("| adapter | compared with | write | there | ratio | processor time | search | there | there / here |")
    print("|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, own_surroundings(Path(name)):
        place = Path(name)
        with Recollectum(place / "home", settings={"encryption": "off"}, embedder=_EMBEDDER) as home:
            _langgraph(home, place, texts, queries)
            _openai(home, place, texts)
            asyncio.run(_adk(home, place, texts, queries))
            _anthropic(home, place, texts[:_ONE_BY_ONE])
            _mem0(home, place, texts[:_ONE_BY_ONE], queries)


def _langgraph(home: Recollectum, place: Path, texts: list[str], queries: list[str]) -> None:
    vault = home.vault("user:langgraph")
    ours = RecollectumStore(vault)
    written = _timed(lambda: _put(ours, texts))
    # The vectors follow in the background.
    vault.admin.index.update()
    searched = _median(lambda query: ours.search(_NAMESPACE, query=query), queries)
    plain = InMemoryStore(index={"dims": _EMBEDDER.identity.dimensions, "embed": _embed})
    there = _timed(lambda: _put(plain, texts))
    found = _median(lambda query: plain.search(_NAMESPACE, query=query), queries)
    _row("LangGraph store", "InMemoryStore with an index, not synced", (written, there), (searched, found))
    with SqliteStore.from_conn_string(str(place / "store.db")) as sqlite:
        sqlite.setup()
        there = _timed(lambda: _put(sqlite, texts))
    _row("LangGraph store", "SqliteStore on a file, synced, not indexed", (written, there), None)


def _openai(home: Recollectum, place: Path, texts: list[str]) -> None:
    session, known = RecollectumSession("s", home.vault("user:openai")), SQLiteSession("s", place / "agents.db")

    async def fill(one: RecollectumSession | SQLiteSession) -> None:
        for at in range(0, len(texts), _BATCH):
            items = [{"role": "user", "content": text} for text in texts[at : at + _BATCH]]
            await one.add_items(cast("Any", items))

    async def read(one: RecollectumSession | SQLiteSession) -> float:
        return median([(await _awaited(lambda: one.get_items(limit=20))).wall for _ in range(_SEARCHES)])

    async def both() -> tuple[tuple[Took, Took], tuple[float, float]]:
        written = await _awaited(lambda: fill(session)), await _awaited(lambda: fill(known))
        return written, (await read(session), await read(known))

    writes, reads = asyncio.run(both())
    known.close()
    _row("OpenAI session, last 20 items", "SQLiteSession on a file, not indexed", writes, reads)


async def _adk(home: Recollectum, place: Path, texts: list[str], queries: list[str]) -> None:
    ours, theirs = RecollectumMemoryService(home), SqliteMemoryService(str(place / "adk.db"))

    async def fill(one: BaseMemoryService) -> None:
        for at in range(0, len(texts), _BATCH):
            events = [_event(at + n, text) for n, text in enumerate(texts[at : at + _BATCH])]
            await one.add_events_to_memory(**_APP, events=events, session_id="s")

    async def search(one: BaseMemoryService) -> float:
        return median([(await _awaited(lambda q=query: one.search_memory(**_APP, query=q))).wall for query in queries])

    writes = await _awaited(lambda: fill(ours)), await _awaited(lambda: fill(theirs))
    home.vault("user:ann").admin.index.update()
    _row("ADK memory", "SqliteMemoryService, full text", writes, (await search(ours), await search(theirs)))


def _anthropic(home: Recollectum, place: Path, texts: list[str]) -> None:
    """One file for each item, in folders of 100: the local tool lists a folder by reading it."""
    ours = RecollectumMemoryTool(home.vault("user:anthropic"))
    theirs = BetaLocalFilesystemMemoryTool(str(place / "files"))
    paths = [f"/memories/{n // 100}/{n}.md" for n in range(len(texts))]

    def fill(tool: Any) -> None:  # noqa: ANN401 - the two have no class in common
        for path, text in zip(paths, texts, strict=True):
            tool.call({"command": "create", "path": path, "file_text": text})

    writes = _timed(lambda: fill(ours)), _timed(lambda: fill(theirs))
    some = paths[:: max(1, len(paths) // _SEARCHES)]
    reads = [
        _median(lambda path, tool=tool: tool.call({"command": "view", "path": path}), some) for tool in (ours, theirs)
    ]
    _row("Anthropic memory tool, view of a file", "files, synced, not indexed", writes, (reads[0], reads[1]))


def _mem0(home: Recollectum, place: Path, texts: list[str], queries: list[str]) -> None:
    """One call for each item: `add` takes the messages of one conversation."""
    os.environ.update(MEM0_TELEMETRY="False", MEM0_DIR=str(place / "mem0"), OPENAI_API_KEY="none")
    # Imported here: it reads its settings when it is imported, and takes seconds.
    import mem0  # noqa: PLC0415
    from mem0.embeddings.openai import OpenAIEmbedding  # noqa: PLC0415

    def fill(memory: Any) -> None:  # noqa: ANN401 - the two have no class in common
        for text in texts:
            memory.add(text, user_id="mem0", infer=False)

    def find(memory: Any) -> float:  # noqa: ANN401
        return _median(lambda query: memory.search(query, filters={"user_id": "mem0"}), queries)

    store = {"path": str(place / "qdrant"), "embedding_model_dims": _EMBEDDER.identity.dimensions}
    config = {"vector_store": {"provider": "qdrant", "config": store}, "history_db_path": str(place / "history.db")}

    def embed_one(_: object, text: str, *__: object, **___: object) -> list[float]:
        return _embed([text])[0]

    def embed_many(_: object, given: list[str], *__: object, **___: object) -> list[list[float]]:
        return _embed(given)

    one = mock.patch.object(OpenAIEmbedding, "embed", embed_one)
    many = mock.patch.object(OpenAIEmbedding, "embed_batch", embed_many)
    with one, many:
        ours, theirs = RecollectumMemory(home), mem0.Memory.from_config(config)
        writes = _timed(lambda: fill(ours)), _timed(lambda: fill(theirs))
        home.vault("user:mem0").admin.index.update()
        _row("mem0", "Memory with its local Qdrant, vectors only", writes, (find(ours), find(theirs)))


def _event(n: int, text: str) -> Event:
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(id=f"e{n}", author="user", content=content, timestamp=2e9 + n)


def _put(store: BaseStore, texts: list[str]) -> None:
    for at in range(0, len(texts), _BATCH):
        store.batch([PutOp(_NAMESPACE, str(at + n), {"text": text}) for n, text in enumerate(texts[at : at + _BATCH])])


def _embed(texts: Any) -> list[list[float]]:  # noqa: ANN401
    return _EMBEDDER.embed(list(texts), Purpose.PASSAGE).tolist()


def _timed(work: Callable[[], object]) -> Took:
    began, cpu = time.perf_counter(), time.process_time()
    work()
    return Took(time.perf_counter() - began, time.process_time() - cpu)


async def _awaited(work: Callable[[], Awaitable[object]]) -> Took:
    began, cpu = time.perf_counter(), time.process_time()
    await work()
    return Took(time.perf_counter() - began, time.process_time() - cpu)


def _median(search: Callable[[str], object], queries: list[str]) -> float:
    return median(_timed(lambda q=query: search(q)).wall for query in queries)


def _row(adapter: str, other: str, write: tuple[Took, Took], search: tuple[float, float] | None) -> None:
    here, there = write
    looked = f"{search[0] * 1000:.1f} ms | {search[1] * 1000:.1f} ms | {search[1] / search[0]:.1f}" if search else "| |"
    print(
        f"| {adapter} | {other} | {here.wall:.2f} | {there.wall:.2f} | {here.wall / there.wall:.2f} "
        f"| {here.cpu / there.cpu:.2f} | {looked} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
