"""Runs two stores against each other, batch by batch, so that other load affects both, and prints the result."""

import time
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from inspect import isawaitable
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any, TypeVar
from zlib import crc32

import numpy as np

from bench.raw import Recorder, run_raw
from recollectum import Recollectum
from recollectum.domain.models.embedder import EmbedderIdentity, Purpose
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
Work = Callable[[T], "Awaitable[object] | object"]

#: The most that a write may take, for each that the other store takes.
_AS_QUICK, _TWICE = 1.0, 2.0
#: How much quicker a search has to be.
_FIVE_TIMES = 5.0
_FLOOR_BATCHES = 40


class WordsEmbedder:
    """An embedder with as many dimensions as the model that ships, and no model: a text is the sum of its words.

    Both stores of a race use it, so that their own work is compared and not the time of a model.
    """

    max_tokens = 512

    def __init__(self) -> None:
        self.identity = EmbedderIdentity(
            provider="words", model="sum", digest="", dimensions=384, form="plain", provider_key=""
        )
        self._words: dict[str, NDArray[np.float32]] = {}

    def embed(self, texts: Sequence[str], purpose: Purpose) -> "NDArray[np.float32]":  # noqa: ARG002 - one form
        """Return one row for each text, in order."""
        rows = np.stack([np.sum([self._word(word) for word in text.split() or [text]], axis=0) for text in texts])
        return rows / np.linalg.norm(rows, axis=1, keepdims=True)

    def lists(self, texts: Any) -> list[list[float]]:  # noqa: ANN401 - as a framework gives them
        """Return the same as lists of numbers."""
        return self.embed(list(texts), Purpose.PASSAGE).tolist()

    def close(self) -> None:
        """Do nothing: nothing is held."""

    def _word(self, word: str) -> "NDArray[np.float32]":
        if word not in self._words:
            chance = np.random.default_rng(crc32(word.encode()))
            self._words[word] = chance.standard_normal(self.identity.dimensions, np.float32)
        return self._words[word]


@dataclass(slots=True)
class Took:
    """Seconds: by the clock, and of processors."""

    wall: float = 0.0
    cpu: float = 0.0

    async def time(self, work: Work[T], given: T) -> None:
        """Add the time of one work, which may have to be awaited."""
        began, cpu = time.perf_counter(), time.process_time()
        done = work(given)
        if isawaitable(done):
            await done
        self.wall += time.perf_counter() - began
        self.cpu += time.process_time() - cpu


@dataclass(frozen=True, slots=True)
class Other:
    """The store of a framework, and what it does for a write besides storing it."""

    name: str
    #: What it searches by; empty when it has no search.
    indexes: str = ""
    #: Whether a write is on the disk when the call returns.
    syncs: bool = False
    #: Whether it has a file at all.
    keeps: bool = True

    @property
    def write_target(self) -> float | None:
        """How long a write may take; None when there is nothing to compare, because nothing is stored."""
        return (_AS_QUICK if self.indexes and self.syncs else _TWICE) if self.keeps else None

    def told(self) -> str:
        """Return in words what it does."""
        kept = ("syncs" if self.syncs else "does not sync") if self.keeps else "keeps nothing on disk"
        return f"{self.indexes or 'no index'}; {kept}"


@dataclass(frozen=True, slots=True)
class Looked:
    """The medians of searches or reads."""

    here: Took
    there: Took
    #: What is compared, if it is not one search with another.
    means: str = ""

    def told(self) -> str:
        """Return the cells of a search."""
        clock, cpu = self.there.wall / self.here.wall, self.there.cpu / self.here.cpu
        result = "met" if clock >= _FIVE_TIMES else "missed"
        times = f"{self.here.wall * 1000:.2f} ms | {self.there.wall * 1000:.2f} ms"
        return f"{times} | {clock:.1f} | {cpu:.1f} | ≥ {_FIVE_TIMES:g} | {result}"


@dataclass(slots=True)
class Row:
    """One line of the table."""

    adapter: str
    items: int
    other: Other
    here: Took = field(default_factory=Took)
    there: Took = field(default_factory=Took)
    #: The part of our time that bare SQLite takes for the same rows.
    bare: float | None = None
    search: Looked | None = None
    read: Looked | None = None

    async def write(self, batches: Iterable[T], here: Work[T], there: Work[T]) -> "Row":
        """Write each batch here and there."""
        for batch in batches:
            await self.here.time(here, batch)
            await self.there.time(there, batch)
        return self

    def told(self) -> str:
        """Return the line."""
        clock, cpu = self.here.wall / self.there.wall, self.here.cpu / self.there.cpu
        target = self.other.write_target
        wanted = "none | –" if target is None else f"≤ {target:g} | {'met' if clock <= target else 'missed'}"
        floor = "–" if self.bare is None else f"{self.bare * clock:.2f}"
        found = self.search.told() if self.search else "| | | | none | –"
        return (
            f"| {self.adapter} | {self.items:,} | {self.other.name} | {self.other.told()} "
            f"| {self.here.wall:.2f} | {self.there.wall:.2f} | {clock:.2f} | {cpu:.2f} | {wanted} | {floor} | {found} |"
        )

    def notes(self) -> list[str]:
        """Return what the line does not say."""
        both = (("search", self.search), ("read", self.read))
        return [
            f"{self.adapter}: {what} is {one.means}: {one.here.wall * 1000:.2f} ms here, "
            f"{one.there.wall * 1000:.2f} ms there"
            for what, one in both
            if one and one.means
        ]


HEAD = (
    "| adapter | items | compared with | which | write, s | there, s | by the clock | processor time | target "
    "| result | bare rows | search | there | there / here | processor time | target | result |"
)


async def looked(given: Sequence[T], here: Work[T], there: Work[T], means: str = "") -> Looked:
    """Return the medians of searches or reads, which take turns; the first of each warms up."""
    times: list[tuple[Took, Took]] = []
    for one in (given[0], *given):
        pair = Took(), Took()
        await pair[0].time(here, one)
        await pair[1].time(there, one)
        times.append(pair)
    first, second = zip(*times[1:], strict=True)
    return Looked(_middle(first), _middle(second), means)


def _middle(times: Sequence[Took]) -> Took:
    return Took(median(one.wall for one in times), median(one.cpu for one in times))


async def bare_rows(folder: Path, owner: str, batches: Sequence[T], make: Callable[[Recollectum], Work[T]]) -> float:
    """Return the part of our time that bare SQLite takes, synced, for the rows that our write stores.

    The first half of the batches fills a new home. Of each of the others the statements are run in a copy of its vault.
    """
    recorder = Recorder()
    recorder.listen()
    try:
        with Recollectum(folder, settings={"encryption": "off", "embedding.provider": "none"}) as home:
            return await _replayed(recorder, home, owner, batches[: 2 * _FLOOR_BATCHES], make(home))
    finally:
        recorder.stop()


async def _replayed(recorder: Recorder, home: Recollectum, owner: str, batches: Sequence[T], write: Work[T]) -> float:
    filled, ours, bare = Took(), Took(), Took()
    first, rest = batches[: len(batches) // 2], batches[len(batches) // 2 :]
    for batch in first:
        await filled.time(write, batch)
    place = home.vault_place(owner)
    if place is None:
        raise SystemExit(f"there is no vault of {owner}, so its rows cannot be measured")
    path = Path(place.words)
    target = path.with_name("bare.db")
    source = SqliteDatabase(path, SqliteOptions())
    back_up(source, target, key=None)
    source.close()
    raw = connect(target, key=None, cache_kib=SqliteOptions().cache_kib)
    for batch in rest:
        with recorder.recording(path) as statements:
            await ours.time(write, batch)
        await bare.time(lambda done: run_raw(raw, done), statements)
    raw.close()
    return bare.wall / ours.wall
