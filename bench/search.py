"""Measures search time as a vault grows, by keywords and vectors, against plain scans and other libraries."""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import apsw

from bench.search_data import Cloud, Talk, signed_bytes
from bench.search_embedder import DIMENSIONS, OWNER, TableEmbedder
from bench.search_peers import open_peers
from bench.search_table import Costs, Fact, cost_lines, fact_table, heading
from bench.search_vault import fill
from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.domain.models.embedder import Purpose
from recollectum.models.embedding.port import Embedder
from recollectum.recall.pipeline import POOL
from recollectum.recall.vectors.matrix import VectorMatrix
from recollectum.recall.vectors.query import VectorQuery
from recollectum.storage.port import Database
from recollectum.storage.tables.index import generations
from recollectum.storage.tables.index.generations import GenerationState
from recollectum.text.terms.analyser import phrases, query_terms
from tests.crashes.homes import only_vault, vault_files

if TYPE_CHECKING:
    from bench.search_data import Vectors

T = TypeVar("T")

_SIZES = sized((1_000, 10_000, 100_000, 1_000_000), (500,))
_ROOT = Path(__file__).parents[1]
_TEN = 10
_BARE = "SELECT rowid FROM bare WHERE bare MATCH ? ORDER BY rank LIMIT 10"
_QUIET_SECONDS, _MOST_WAITS = 1.0, 900


@dataclass(frozen=True, slots=True)
class Ground:
    """One size: the vectors, the home with its vault, and the questions with their vectors."""

    cloud: Cloud
    folder: Path
    home: Path
    questions: "dict[str, Vectors]"


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench search", description=__doc__)
    parser.add_argument("--sizes", nargs="+", type=int, default=list(_SIZES), metavar="N", help="chunks in the vault")
    parser.add_argument("--peers", action="store_true", help="also sqlite-vec, chromadb and faiss, if installed")
    parser.add_argument(
        "--questions", type=int, default=sized(60, 3), metavar="N", help="how many are asked at each size"
    )
    asked = parser.parse_args(arguments)
    recalls: list[Costs] = []
    facts: list[Fact] = []
    print(heading(), flush=True)
    for size in asked.sizes:
        with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
            costs, known = _at_size(size, Path(folder), asked.questions, peers=asked.peers)
        recalls.append(costs[0])
        facts += known
        # The next size may take minutes.
        print(cost_lines(costs), flush=True)
    print()
    print(fact_table([*facts, *_embedding(recalls[0], asked.questions)]))


def _at_size(size: int, folder: Path, questions: int, *, peers: bool) -> tuple[list[Costs], list[Fact]]:
    talk, cloud = Talk(size), Cloud(size)
    texts = [talk.question() for _ in range(questions)]
    ground = Ground(cloud, folder, folder / "home", dict(zip(texts, cloud.questions(questions), strict=True)))
    began = time.perf_counter()
    said = fill(ground.home, cloud, talk)
    filled = time.perf_counter() - began
    costs = [_recall(ground)]
    with only_vault(ground.home) as database:
        arms, found = _arms(ground, database)
    costs += arms
    costs.append(_bare(ground, said))
    if peers:
        costs += _peers(ground)
    (path,) = vault_files(ground.home)[:1]
    fact = [
        Fact(size, "recall@10 of the vector part against exact f32", f"{_agreement(ground, found):.4f}"),
        *_processes(ground),
        Fact(size, "filling the vault", f"{filled:.0f} s, {path.stat().st_size / 2**20:.0f} MiB"),
    ]
    return costs, fact


def _recall(ground: Ground) -> Costs:
    """Return the cost of a whole search, without the embedder."""
    with Recollectum(ground.home, embedder=TableEmbedder(ground.questions)) as r:
        vault = r.vault(OWNER)
        vault.recall(next(iter(ground.questions)))
        _wait_until_quiet()
        return _timed(ground.cloud.size, "vault.recall", ground.questions, vault.recall)


def _wait_until_quiet() -> None:
    """Wait for background index builds, which must not count as search time."""
    for _ in range(_MOST_WAITS):
        before = time.process_time()
        time.sleep(_QUIET_SECONDS)
        if time.process_time() - before < _QUIET_SECONDS / 20:
            return


def _arms(ground: Ground, database: Database) -> tuple[list[Costs], list[list[int]]]:
    """Return the cost of each arm alone and of a plain scan of the same bytes; and what the vector arm found."""
    import numkong  # noqa: PLC0415 - the list of benchmarks must not need it
    import numpy as np  # noqa: PLC0415

    generation = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
    assert generation is not None
    matrix = VectorMatrix(generation.id, DIMENSIONS)
    database.read(lambda tx: matrix.refresh(tx, generation))
    plain = np.vstack(
        [
            np.frombuffer(b"".join(signed_bytes(block)), np.int8).reshape(-1, DIMENSIONS)
            for block in ground.cloud.blocks()
        ]
    )

    def scan(vector: "Vectors") -> object:
        asked = np.frombuffer(signed_bytes(vector.reshape(1, -1))[0], np.int8).reshape(1, -1)
        return numkong.cdist(asked, plain, "dot")

    def look(text: str) -> object:
        return database.read(lambda tx: tx.text.matches(phrases(query_terms(text))).best(POOL))

    vectors, size = list(ground.questions.values()), ground.cloud.size
    costs = [
        _timed(size, "vector part", vectors, lambda vector: VectorQuery(matrix, vector).best(POOL, None)),
        _timed(size, "plain int8 scan", vectors, scan),
        _timed(size, "text part", ground.questions, look),
    ]
    return costs, [matrix.near(vector).best(_TEN) for vector in vectors]


def _bare(ground: Ground, said: Iterable[str]) -> Costs:
    """Return the cost of plain FTS5 on the same texts, in an unencrypted file."""
    connection = apsw.Connection(str(ground.folder / "bare.db"))
    connection.execute("CREATE VIRTUAL TABLE bare USING fts5(text)")
    with connection:
        connection.executemany("INSERT INTO bare (text) VALUES (?)", ((text,) for text in said))

    def look(question: str) -> object:
        words = (word.strip("?") for word in question.split())
        return connection.execute(_BARE, (" OR ".join(f'"{word}"' for word in words),)).fetchall()

    costs = _timed(ground.cloud.size, "bare FTS5, all words", ground.questions, look)
    connection.close()
    return costs


def _peers(ground: Ground) -> list[Costs]:
    found: list[Costs] = []
    for name, search in open_peers(ground.cloud, ground.folder).items():
        if search is None:
            print(f"{name} is not installed, or takes too long to fill with {ground.cloud.size:,}", file=sys.stderr)
        else:
            found.append(_timed(ground.cloud.size, name, ground.questions.values(), search))
    return found


def _agreement(ground: Ground, found: Sequence[Sequence[int]]) -> float:
    """Return the share of the true ten nearest among the ten found; chunks are numbered from 1."""
    import numpy as np  # noqa: PLC0415

    truth = ground.cloud.truth(np.stack(list(ground.questions.values())), _TEN)
    hits = sum(
        len({number - 1 for number in ours} & set(true.tolist())) for ours, true in zip(found, truth, strict=True)
    )
    return hits / truth.size


def _processes(ground: Ground) -> list[Fact]:
    """Return the first search of a process, and its memory."""
    import numpy as np  # noqa: PLC0415

    known, size = ground.folder / "questions.npz", ground.cloud.size
    np.savez(known, texts=np.array(list(ground.questions)), rows=np.stack(list(ground.questions.values())))
    # In this order, so that the code is compiled by then, as in an installation.
    memory, first = (_child(ground, known, what) for what in ("memory", "first"))
    room = size * DIMENSIONS
    return [
        Fact(size, "first search of a process", f"{first['processor']:.0f} ms CPU, {first['wall']:.0f} ms wall"),
        Fact(size, "memory", f"{memory['bytes'] / 2**20:.0f} MiB, {memory['bytes'] / room:.2f} × the vectors"),
    ]


def _child(ground: Ground, known: Path, what: str) -> dict[str, float]:
    command = [sys.executable, "-m", "bench.search_cold", str(ground.home), str(known), what]
    compiled = {"PYTHONPYCACHEPREFIX": str(ground.folder / "compiled"), "PYTHONDONTWRITEBYTECODE": ""}
    done = subprocess.run(command, capture_output=True, check=True, cwd=_ROOT, env=os.environ | compiled, text=True)
    return json.loads(done.stdout)


def _embedding(recall: Costs, count: int) -> list[Fact]:
    """Return what a local model adds to a search, for a new question and for a repeated one."""
    from recollectum.models.embedding.packages import local_is_installed  # noqa: PLC0415
    from recollectum.models.registry.embedding import open_embedder  # noqa: PLC0415
    from recollectum.settings.model import EmbeddingSettings  # noqa: PLC0415

    what = "embedding the question"
    if not local_is_installed():
        return [Fact(None, what, "not measured: no model is installed; install recollectum[local]")]
    embedder = open_embedder(EmbeddingSettings(provider="local"), os.environ)
    assert embedder is not None

    def embed(text: str, embedder: Embedder = embedder) -> object:
        return embedder.embed([text], Purpose.QUERY)

    talk = Talk(5)
    questions = [talk.question() for _ in range(count)]
    # The model is loaded for the first of them, which is not timed.
    embed("loads the model")
    new, again = (_timed(0, what, questions, embed, warm=False) for _ in range(2))
    embedder.close()
    share = new.middle(processor=False) / (new.middle(processor=False) + recall.middle(processor=False))
    return [
        Fact(
            None,
            f"{what}, first time",
            f"p50 {new.middle(processor=False):.1f} ms, {share:.0%} of a search in {recall.size:,}",
        ),
        Fact(None, f"{what}, again", f"p50 {again.middle(processor=False):.3f} ms"),
    ]


def _timed(size: int, what: str, asked: Iterable[T], work: Callable[[T], object], *, warm: bool = True) -> Costs:
    """Time each question once; with `warm`, the first was asked before."""
    costs = Costs(size, what, [], [])
    for place, one in enumerate([*asked]):
        if warm and place == 0:
            work(one)
        began = time.perf_counter(), time.process_time()
        work(one)
        costs.wall.append((time.perf_counter() - began[0]) * 1000)
        costs.processor.append((time.process_time() - began[1]) * 1000)
    return costs
