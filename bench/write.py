"""Measures one durable save and one message against bare SQLite transactions with the same rows, as a vault grows."""

import random
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import TypeVar

import apsw

from bench.raw import Recorder, run_raw
from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.storage.sqlite.backup import back_up
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.crashes.homes import vault_files, vault_key

T = TypeVar("T")

_SIZES = sized((1_000, 10_000, 100_000), (100, 300))
_BATCH = 500
_PAIRS = sized(300, 21)
_recorder = Recorder()
_SENTENCE = (
    "likes tea coffee in the morning works at a small bakery near river and plays piano on sundays with her sister "
    "moved to lisbon last spring because of weather prefers trains over planes reads history before sleep"
)


@dataclass(frozen=True, slots=True)
class Times:
    """The time of each of many writes, in milliseconds: wall clock and CPU."""

    clock: list[float]
    processor: list[float]

    def take(self, work: Callable[[], T]) -> T:
        """Time one write."""
        began = time.perf_counter(), time.process_time()
        value = work()
        self.clock.append((time.perf_counter() - began[0]) * 1000)
        self.processor.append((time.process_time() - began[1]) * 1000)
        return value


@dataclass(frozen=True, slots=True)
class Pair:
    """The same rows written by us and by bare SQLite."""

    ours: Times
    raw: Times

    def row(self, size: int, what: str) -> str:
        """Return one line of the table."""
        ours, raw = median(self.ours.clock), median(self.raw.clock)
        tail = quantiles(self.ours.clock, n=20)[-1], quantiles(self.raw.clock, n=20)[-1]
        processor = median(self.ours.processor), median(self.raw.processor)
        numbers = (ours, raw, ours / raw, *tail, *processor)
        return f"| {size:,} | {what} | {' | '.join(f'{number:.2f}' for number in numbers)} |"


def main() -> None:
    chance = random.Random(1)
    _recorder.listen()
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        home = Path(folder) / "home"
        with Recollectum(home) as r:
            vault = r.vault("user:ann")
            results = [_at_size(vault, home, size, chance) for size in _SIZES]
    print("| memories in the vault | adds/s by save_many | file MiB |\n|---|---|---|")
    for result in results:
        print(f"| {result.size:,} | {result.rate:,.0f} | {result.mib:.1f} |")
    columns = ("ours p50 ms", "raw p50 ms", "ratio", "ours p95 ms", "raw p95 ms", "ours CPU ms", "raw CPU ms")
    print(f"\n| memories in the vault | write | {' | '.join(columns)} |")
    print("|---|---|" + "---|" * len(columns))
    for result in results:
        print(result.save.row(result.size, "memories.save"))
        print(result.say.row(result.size, "chat.add"))
    for name, pick in _PICKS.items():
        first, last = pick(results[0]), pick(results[-1])
        ours, raw = (_growth(first.ours, last.ours), _growth(first.raw, last.raw))
        # A disk that became slower meanwhile slows both; only what the raw write does not show is ours.
        print(f"\n{name}: {ours:+.0%} from {_SIZES[0]:,} to {_SIZES[-1]:,} memories, raw {raw:+.0%}")


def _growth(first: Times, last: Times) -> float:
    return median(last.clock) / median(first.clock) - 1


@dataclass(frozen=True, slots=True)
class Result:
    """The measurements at one size."""

    size: int
    rate: float
    mib: float
    save: Pair
    say: Pair


_PICKS: dict[str, Callable[[Result], Pair]] = {
    "memories.save": lambda result: result.save,
    "chat.add": lambda result: result.say,
}


def _at_size(vault: Vault, home: Path, size: int, chance: random.Random) -> Result:
    rate = _fill(vault, size, chance)
    chat = vault.sessions.open(channel="bench", agent="main")
    (path,) = vault_files(home)
    raw = _copy(path, vault_key(home, path))
    try:
        save = _pairs(raw, path, lambda: vault.memories.save(_text(chance)))
        say = _pairs(raw, path, lambda: chat.add("user", _text(chance)))
    finally:
        raw.close()
    return Result(size, rate, path.stat().st_size / 1024 / 1024, save, say)


def _fill(vault: Vault, size: int, chance: random.Random) -> float:
    """Save in batches until the vault holds that many; return how many per second."""
    missing = size - sum(vault.admin.totals().memories.values())
    began = time.perf_counter()
    for first in range(0, missing, _BATCH):
        number = min(_BATCH, missing - first)
        vault.memories.save_many([Draft(content=_text(chance)) for _ in range(number)])
    return missing / (time.perf_counter() - began)


def _text(chance: random.Random) -> str:
    return f"{' '.join(chance.choices(_SENTENCE.split(), k=12))} {chance.getrandbits(40)}"


def _copy(path: Path, key: bytes | None) -> apsw.Connection:
    """Return a connection with the same settings to a copy of the vault in another file."""
    source = SqliteDatabase(path, SqliteOptions(key=key))
    target = path.parent.parent / "backups" / "raw.db"
    target.unlink(missing_ok=True)
    back_up(source, target, key=key)
    source.close()
    return connect(target, key=key, cache_kib=SqliteOptions().cache_kib)


def _pairs(raw: apsw.Connection, path: Path, ours: Callable[[], object]) -> Pair:
    """Time our write and the bare one alternately, so that other load affects both."""
    pair = Pair(Times([], []), Times([], []))
    for _ in range(_PAIRS):
        _, statements = _recorder.record(path, partial(pair.ours.take, ours))
        pair.raw.take(partial(run_raw, raw, statements))
    return pair
