"""Compares writing and searching through each adapter with the store that its framework brings, in one run."""

import asyncio
import os
import tempfile
import time
from collections.abc import Awaitable, Callable
from importlib import import_module
from pathlib import Path
from statistics import median

from bench.adapters_race import HEAD, Row
from bench.adapters_set import EMBEDDER, Set
from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.domain.models.embedder import Purpose

_ITEMS = sized(10_000, 60)
#: Of stores of state, which take one item with each call and have no search.
_ONE_BY_ONE = sized(2_000, 60)
_SEARCHES = sized(31, 2)

Section = Callable[[Recollectum, Path, Set], Awaitable[list[Row]]]

#: For each module of `recollectum.adapters` where its race is, and how many items it writes. Imported when it runs,
#: because each imports its framework.
SECTIONS: dict[str, list[tuple[str, str, int]]] = {
    "langgraph": [
        ("bench.adapters_memories", "langgraph", _ITEMS),
        ("bench.adapters_sessions", "langgraph_saver", _ONE_BY_ONE),
    ],
    "openai_agents": [("bench.adapters_sessions", "openai", _ITEMS)],
    "adk": [
        ("bench.adapters_memories", "adk_memory", _ITEMS),
        ("bench.adapters_sessions", "adk_sessions", _ONE_BY_ONE),
    ],
    "anthropic": [("bench.adapters_memories", "anthropic", _ITEMS)],
    "mem0": [("bench.adapters_memories", "mem0", _ITEMS)],
    "llama_index": [("bench.adapters_sessions", "llama_index", _ITEMS)],
    "pydantic_ai": [("bench.adapters_sessions", "pydantic_ai", _ITEMS)],
    "a2a": [("bench.adapters_sessions", "a2a", _ONE_BY_ONE)],
}
#: Adapters that cannot be compared, and why.
NOT_COMPARED = {
    "claude_agent": (
        "Claude Agent SDK: the SDK's one session store, InMemorySessionStore, is a dictionary for tests; its program "
        "writes a transcript, which the hooks read"
    )
}


def main() -> None:
    data = Set.make(_ITEMS, _SEARCHES)
    print(HEAD)
    print("|" + "---|" * (HEAD.count("|") - 1))
    with tempfile.TemporaryDirectory() as name, own_surroundings(Path(name)):
        place = Path(name)
        sync_ms = _sync_ms(place)
        with Recollectum(place / "home", settings={"encryption": "off"}, embedder=EMBEDDER) as home:
            rows = asyncio.run(_run(home, place, data))
        _explain(rows, data, sync_ms, _model_ms(place, data.texts[: sized(64, 4)]))


def _explain(rows: list[Row], data: Set, sync_ms: float, model_ms: float | None) -> None:
    """Print what the table does not say."""
    print(
        "\nBy the clock: our time for each of theirs. Bare rows: the same for our rows in bare SQLite, synced, without"
        "\nour code; no write that stores them is quicker. No target: nothing is stored there, or it has no search.\n"
    )
    for note in (note for row in rows for note in row.notes()):
        print(f"- {note}")
    for adapter, seconds in data.vectors.items():
        print(f"- {adapter}: what follows a write, the vectors and words that wait, was made in {seconds:.2f} s")
    began = time.perf_counter()
    EMBEDDER.lists(data.queries)
    query_ms = (time.perf_counter() - began) / len(data.queries) * 1000
    print(f"- both sides use the same embedder, which is a sum of words: {query_ms:.2f} ms for a query")
    if model_ms:
        print(
            f"- the model that ships takes {model_ms:.1f} ms for such a text: with it, a store that embeds before it "
            "answers takes that much longer for each write"
        )
    load = f"a load of {os.getloadavg()[0]:.0f} on {os.cpu_count()} processors"
    print(f"- a sync of this disk took {sync_ms:.2f} ms before the run, which ended with {load}")
    for reason in NOT_COMPARED.values():
        print(f"- not compared: {reason}")


def _sync_ms(folder: Path) -> float:
    """Return the median of a small synced write."""
    times: list[float] = []
    with (folder / "synced").open("wb", buffering=0) as file:
        for _ in range(50):
            began = time.perf_counter()
            file.write(b"x" * 4096)
            os.fsync(file.fileno())
            times.append(time.perf_counter() - began)
    return median(times) * 1000


def _model_ms(folder: Path, texts: list[str]) -> float | None:
    """Return how long the model that ships takes for one text; None where it is not installed."""
    with Recollectum(folder / "model", settings={"encryption": "off"}) as home:
        if home.embedder is None:
            return None
        home.embedder.embed(texts[:1], Purpose.PASSAGE)
        began = time.perf_counter()
        for text in texts[1:]:
            home.embedder.embed([text], Purpose.PASSAGE)
        return (time.perf_counter() - began) / (len(texts) - 1) * 1000


async def _run(home: Recollectum, place: Path, data: Set) -> list[Row]:
    rows: list[Row] = []
    for sections in SECTIONS.values():
        for module, function, size in sections:
            section: Section = getattr(import_module(module), function)
            for row in await section(home, place, data.first(size)):
                print(row.told(), flush=True)
                rows.append(row)
    return rows


if __name__ == "__main__":
    main()
