"""Compares writing and searching through each adapter with the store that its framework brings, in one run."""

# pyright: reportMissingTypeStubs=false, reportUnknownMemberType=false

import asyncio
import random
import tempfile
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from statistics import median
from typing import Any, cast

from agents.memory import SQLiteSession
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
from recollectum.adapters.langgraph import RecollectumStore
from recollectum.adapters.openai_agents import RecollectumSession
from recollectum.domain.models.embedder import Purpose
from recollectum.testing import ScriptedEmbedder

_ITEMS = sized(10_000, 60)
_BATCH = 20
_SEARCHES = sized(15, 2)
_WORDS = [f"{first}{second}" for first in ("tea", "door", "sun", "rain", "book", "road") for second in range(400)]
_NAMESPACE = ("memories", "ann")
_EMBEDDER = ScriptedEmbedder()
_APP: dict[str, Any] = {"app_name": "demo", "user_id": "ann"}


def main() -> None:
    rnd = random.Random(1)
    texts = [" ".join(rnd.choices(_WORDS, k=12)) for _ in range(_ITEMS)]
    queries = [" ".join(rnd.choices(_WORDS, k=3)) for _ in range(_SEARCHES)]
    print(f"{_ITEMS} items in batches of {_BATCH}; times are seconds for all writes, and the median of a search\n")
    print("| adapter | compared with | write | there | ratio | search | there | there / here |")
    print("|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name, own_surroundings(Path(name)):
        place = Path(name)
        with Recollectum(place / "home", settings={"encryption": "off"}, embedder=_EMBEDDER) as home:
            _langgraph(home, place, texts, queries)
            _openai(home, place, texts)
            asyncio.run(_adk(home, place, texts, queries))


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
        return median([await _awaited(lambda: one.get_items(limit=20)) for _ in range(_SEARCHES)])

    async def both() -> tuple[tuple[float, float], tuple[float, float]]:
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
        return median([await _awaited(lambda q=query: one.search_memory(**_APP, query=q)) for query in queries])

    writes = await _awaited(lambda: fill(ours)), await _awaited(lambda: fill(theirs))
    home.vault("user:ann").admin.index.update()
    _row("ADK memory", "SqliteMemoryService, full text", writes, (await search(ours), await search(theirs)))


def _event(n: int, text: str) -> Event:
    content = types.Content(role="user", parts=[types.Part(text=text)])
    return Event(id=f"e{n}", author="user", content=content, timestamp=2e9 + n)


def _put(store: BaseStore, texts: list[str]) -> None:
    for at in range(0, len(texts), _BATCH):
        store.batch([PutOp(_NAMESPACE, str(at + n), {"text": text}) for n, text in enumerate(texts[at : at + _BATCH])])


def _embed(texts: Any) -> list[list[float]]:  # noqa: ANN401
    return _EMBEDDER.embed(list(texts), Purpose.PASSAGE).tolist()


def _timed(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


async def _awaited(work: Callable[[], Awaitable[object]]) -> float:
    began = time.perf_counter()
    await work()
    return time.perf_counter() - began


def _median(search: Callable[[str], object], queries: list[str]) -> float:
    return median(_timed(lambda q=query: search(q)) for query in queries)


def _row(adapter: str, other: str, write: tuple[float, float], search: tuple[float, float] | None) -> None:
    looked = f"{search[0] * 1000:.1f} ms | {search[1] * 1000:.1f} ms | {search[1] / search[0]:.1f}" if search else "| |"
    print(
        f"| {adapter} | {other} | {write[0]:.2f} | {write[1]:.2f} | {write[0] / write[1]:.2f} | {looked} |", flush=True
    )


if __name__ == "__main__":
    main()
