"""Compares other memory systems with ours on a labelled set: recall, time of a write and a search, what each needs.

Each system is installed into its own virtual environment outside the repository. All get the same texts and the same
vectors, those of our local model. Embedding is not part of the times. No language model takes part.
"""

import argparse
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bench.error_bars import error_bar
from bench.kept_vectors import KeptVectors, local_embedder
from bench.peers_list import FOLDER, NOT_RUN, PEERS, PeerSystem, Unavailable, interpreter, last_line
from bench.sizes import is_small
from bench.surroundings import own_surroundings
from recollectum import PurgeRequest, Recollectum, __version__
from recollectum.domain.errors import InvalidInput
from recollectum.domain.models.embedder import Purpose
from recollectum.domain.records import dataclass
from recollectum.doors.cli.benchmark.labelled_set import LabelledQuery, LabelledSet, LabelledUnit, load_set
from recollectum.doors.cli.benchmark.metrics import score
from recollectum.doors.cli.benchmark.runner import Feeder, SetClock, set_spaces, start_time
from recollectum.models.embedding.port import Embedder, Vectors

_CHILD = Path(__file__).with_name("peers_child.py")
_FACTS = Path(__file__).with_name("calibration_facts.txt")
_SMALL = 8
_DEPTH = 10
_NEEDS = ("model needed", "network needed")
_SECONDS = 3600
_SHOWN = ("R@5", "R@10", "hit@1")
#: A text that is written, found and deleted again, and the word of it that nothing else has.
_WORD = "quenchwillow"
_DELETED = f"The spare key is under the {_WORD}"
#: Speakers that are a side of the conversation and not a name, which would be a part of the text.
_NO_NAMES = frozenset({None, "user", "assistant", "doc", "log"})
#: Old texts of a set must be found, however old they are.
_SETTINGS = {"storage.reserve_mib": 0, "lifecycle.active_days": 0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What one system did: its ranking of each question, and the seconds of processor time of every call."""

    version: str
    writes: Sequence[float]
    searches: Sequence[float]
    ranked: Mapping[str, Sequence[str]]
    #: How often a text that was deleted is still in the bytes of the files.
    left: int = 0


def main(arguments: Sequence[str] = ()) -> None:
    parser = argparse.ArgumentParser(prog="python -m bench peers", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="labelled sets; else 80 made facts")
    names = [peer.name for peer in PEERS]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME", help=", ".join(names))
    parser.add_argument("--limit-queries", type=int, metavar="N", help="only the first N questions of each set")
    parser.add_argument("--python", default=sys.executable, metavar="FILE", help="the Python that runs the others")
    parser.add_argument("--environments", type=Path, default=FOLDER, metavar="FOLDER", help=f"else {FOLDER}")
    parser.add_argument("--vectors", type=Path, metavar="FILE", help="keep vectors of the local model in this file")
    asked = parser.parse_args(arguments)
    folders: list[Path] = asked.folders
    peers = [peer for peer in PEERS if peer.name in asked.only and not (is_small() and peer.packages)]
    sets = [load_set(folder, asked.limit_queries) for folder in folders] or [made_facts()]
    with tempfile.TemporaryDirectory(prefix="recollectum-peers-") as place, own_surroundings(Path(place)):
        vectors = KeptVectors(local_embedder(), asked.vectors or Path(place) / "vectors.db")
        for data in sets:
            _refuse_stages(data)
            _report(data, vectors, peers, asked.environments, asked.python)
        vectors.close()


def made_facts() -> LabelledSet:
    """Return our own small set: facts that somebody says, and a question about each in other words."""
    lines = [line.split("\t") for line in _FACTS.read_text("utf-8").splitlines() if "\t" in line]
    pairs = [(fact, question) for fact, question in lines][: _SMALL if is_small() else None]
    units = [
        LabelledUnit(space="facts", id=f"u{n}", session="s", speaker=None, text=fact, at=None)
        for n, (fact, _) in enumerate(pairs)
    ]
    queries = [
        LabelledQuery(
            space="facts",
            id=f"q{n}",
            category="facts",
            text=question,
            gold=frozenset({f"u{n}"}),
            gold_sessions=frozenset(),
            asked_at=None,
        )
        for n, (_, question) in enumerate(pairs)
    ]
    return LabelledSet(name="made facts", units=tuple(units), queries=tuple(queries))


def _refuse_stages(data: LabelledSet) -> None:
    if any(math.isfinite(query.before_session) for query in data.queries):
        raise InvalidInput(
            f"{data.name} asks between sessions, which only `python -m bench recall` can do; name another"
        )


def _report(
    data: LabelledSet, vectors: KeptVectors, peers: Sequence[PeerSystem], environments: Path, python: str
) -> None:
    vaults = len({unit.space for unit in data.units})
    count = f"vaults: {vaults}, texts: {len(data.units):,}, questions: {len(data.queries):,}"
    print(f"\n{data.name}: {count}; {datetime.now(UTC):%d %B %Y}\n")
    names = ("system", "version", *_SHOWN, "write, CPU ms", "search, CPU ms", "left after delete", *_NEEDS)
    print(f"| {' | '.join(names)} |\n|---|---|{'--:|' * (len(_SHOWN) + 3)}---|---|")
    ours = run_ours(data, vectors)
    print(_line("**Recollectum**, encrypted", data, ours, "none; its own embedder is optional", "no"), flush=True)
    for peer in peers:
        found = run_peer(peer, data, vectors, environments, python)
        if isinstance(found, Unavailable):
            print(_empty_line(peer.title, f"not run: {found.why}"), flush=True)
        else:
            print(_line(peer.title, data, found, peer.model, peer.network), flush=True)
    for name, why in NOT_RUN.items():
        print(_empty_line(name, f"not run: {why}"))


def _line(title: str, data: LabelledSet, figures: Figures, model: str, network: str) -> str:
    session_of = {unit.id: unit.session for unit in data.units}
    scored = [(query.space, score(query, figures.ranked.get(_key(query), ()), session_of)) for query in data.queries]
    bars = [str(error_bar((space, row[name]) for space, row in scored if name in row)) for name in _SHOWN]
    times = [f"{statistics.median(one) * 1000:.1f}" for one in (figures.writes, figures.searches)]
    return f"| {' | '.join([title, figures.version, *bars, *times, str(figures.left), model, network])} |"


def _empty_line(title: str, why: str) -> str:
    return f"| {title} | {' | '.join(['–'] * (len(_SHOWN) + 4))} | {why} | |"


def run_ours(data: LabelledSet, vectors: KeptVectors) -> Figures:
    """Run our own system as it ships, with encryption; a first run only makes the vectors."""
    known = KnownVectors(vectors)
    _run_ours(data, known)
    return _run_ours(data, known)


class KnownVectors:
    """Our embedder, which remembers every vector, so that a second run spends no time on a model."""

    def __init__(self, made: Embedder) -> None:
        self._made = made
        self._known: dict[tuple[str, Purpose], NDArray[np.float32]] = {}
        self.identity = made.identity
        self.max_tokens = made.max_tokens

    def embed(self, texts: Sequence[str], purpose: Purpose) -> Vectors:
        """Return one row for each text."""
        for text in texts:
            if (text, purpose) not in self._known:
                self._known[text, purpose] = self._made.embed([text], purpose)[0]
        return np.stack([self._known[text, purpose] for text in texts])

    def close(self) -> None:
        """Close nothing: the embedder belongs to the caller."""


def _run_ours(data: LabelledSet, vectors: KnownVectors) -> Figures:
    writes: list[float] = []
    searches: list[float] = []
    ranked: dict[str, list[str]] = {}
    clock = SetClock(datetime.now(UTC))
    with (
        tempfile.TemporaryDirectory(prefix="recollectum-bench-") as folder,
        Recollectum(Path(folder), settings=_SETTINGS, environ=os.environ, embedder=vectors, clock=clock) as recollectum,
    ):
        for number, space in enumerate(set_spaces(data)):
            clock.now = start_time(space)
            vault = recollectum.vault(f"user:space{number}")
            feeder = Feeder(vault, clock, clock.now)
            fed = [_seconds(lambda unit=unit, feeder=feeder: feeder.feed([unit])) for unit in space.units]
            # Vectors are stored by the index, after a write: its time is part of every write.
            later = _seconds(vault.admin.index.update) / max(1, len(fed))
            writes += [one + later for one in fed]
            for query in space.queries:
                clock.now = query.asked_at or max(clock.now, feeder.latest)
                began = time.process_time()
                hits = vault.recall(query.text, limit=_DEPTH)
                searches.append(time.process_time() - began)
                ranked[_key(query)] = feeder.ids(hits)
    left = _left_by_ours(vectors)
    return Figures(version=__version__, writes=writes, searches=searches, ranked=ranked, left=left)


def _left_by_ours(vectors: KnownVectors) -> int:
    """Save and purge one memory in a vault that is not encrypted, as those of the others are; count what is left."""
    with tempfile.TemporaryDirectory(prefix="recollectum-bench-") as folder:
        settings = {**_SETTINGS, "encryption": "off"}
        with Recollectum(Path(folder), settings=settings, environ=os.environ, embedder=vectors) as recollectum:
            vault = recollectum.vault("user:ann")
            saved = vault.memories.save(_DELETED)
            vault.admin.index.update()
            purge = vault.privacy.purge
            purge.run(purge.preview(PurgeRequest.memories(saved.id)).token)
        return count_word(Path(folder))


def count_word(folder: Path) -> int:
    """Return how often the word of the deleted text is in the files of a folder, in small letters or capitals."""
    files = (path for path in folder.rglob("*") if path.is_file())
    return sum(path.read_bytes().lower().count(_WORD.encode()) for path in files)


def _seconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def run_peer(
    peer: PeerSystem, data: LabelledSet, vectors: KeptVectors, environments: Path, python: str
) -> Figures | Unavailable:
    """Run another system in its environment, and give it the texts and their vectors."""
    found = interpreter(peer, environments, python)
    if isinstance(found, Unavailable):
        return found
    spaces = {name: f"space{number}" for number, name in enumerate(dict.fromkeys(one.space for one in data.queries))}
    texts = [(spaces[unit.space], unit.id, _told(unit)) for unit in data.units if unit.text.strip()]
    questions = [(spaces[query.space], _key(query), query.text) for query in data.queries]
    with tempfile.TemporaryDirectory(prefix="recollectum-peer-") as folder:
        job = {
            "peer": peer.name,
            "package": peer.package,
            "folder": folder,
            "most": _DEPTH,
            "texts": texts,
            "questions": questions,
            "deleted": (texts[0][0], "deleted", _DELETED),
            "vectors": {
                **_embedded(vectors, (_DELETED, *(text for _, _, text in texts)), Purpose.PASSAGE),
                **_embedded(vectors, (text for _, _, text in questions), Purpose.QUERY),
            },
        }
        ran = subprocess.run(
            [str(found), "-P", str(_CHILD)],
            input=json.dumps(job),
            capture_output=True,
            text=True,
            timeout=_SECONDS,
            check=False,
            cwd=folder,
        )
        left = count_word(Path(folder))
    return Unavailable(last_line(ran.stderr)) if ran.returncode else Figures(**json.loads(ran.stdout), left=left)


def _embedded(vectors: KeptVectors, texts: Iterable[str], purpose: Purpose) -> dict[str, list[float]]:
    return {text: [float(one) for one in vectors.embed([text], purpose)[0]] for text in dict.fromkeys(texts)}


def _told(unit: LabelledUnit) -> str:
    """Return the text as another system gets it: with the name of the speaker, where there is one."""
    return unit.text if unit.speaker in _NO_NAMES else f"{unit.speaker}: {unit.text}"


def _key(query: LabelledQuery) -> str:
    return f"{query.space}/{query.id}"
