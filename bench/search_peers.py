"""Runs other vector search libraries on the vectors of a search benchmark; all of them are optional."""

import importlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw

from bench.search_data import DIMENSIONS, Cloud, signed_bytes

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]

#: Searches for the ten nearest.
Search = Callable[["Vector"], object]
_TEN = 10
_BATCH = 5_000
#: Building its graph takes minutes for each further hundred thousand.
_MOST_FOR_CHROMA = 100_000


def open_peers(cloud: Cloud, folder: Path) -> dict[str, Search | None]:
    """Return each installed peer, filled with the vectors; None if it is missing or would take too long."""
    return {
        "faiss flat, f32": _if_there("faiss", lambda found: _faiss(found, cloud)),
        "sqlite-vec, int8": _if_there("sqlite_vec", lambda found: _sqlite_vec(found, cloud, folder)),
        "chromadb, in memory": _if_there("chromadb", lambda found: _chroma(found, cloud))
        if cloud.size <= _MOST_FOR_CHROMA
        else None,
    }


def _if_there(name: str, fill: Callable[[Any], Search]) -> Search | None:
    try:
        found = importlib.import_module(name)
    except ImportError:
        return None
    return fill(found)


def _faiss(faiss: Any, cloud: Cloud) -> Search:  # noqa: ANN401 - not installed for type checkers either
    # As many threads as all others have.
    faiss.omp_set_num_threads(1)
    index = faiss.IndexFlatIP(DIMENSIONS)
    for block in cloud.blocks():
        index.add(block)
    return lambda vector: index.search(vector.reshape(1, -1), _TEN)


def _sqlite_vec(sqlite_vec: Any, cloud: Cloud, folder: Path) -> Search:  # noqa: ANN401 - see _faiss
    connection = apsw.Connection(str(folder / f"vec{cloud.size}.db"))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.execute(f"CREATE VIRTUAL TABLE peer USING vec0(vector int8[{DIMENSIONS}] distance_metric=cosine)")
    for block in cloud.blocks():
        with connection:
            connection.executemany(
                "INSERT INTO peer (vector) VALUES (vec_int8(?))", ((row,) for row in signed_bytes(block))
            )
    sql = "SELECT rowid FROM peer WHERE vector MATCH vec_int8(?) AND k = ?"
    return lambda vector: connection.execute(sql, (signed_bytes(vector.reshape(1, -1))[0], _TEN)).fetchall()


def _chroma(chromadb: Any, cloud: Cloud) -> Search:  # noqa: ANN401 - see _faiss
    os.environ["ANONYMIZED_TELEMETRY"] = "False"
    client = chromadb.EphemeralClient()
    collection = client.create_collection(f"bench{cloud.size}", metadata={"hnsw:space": "cosine"})
    start = 0
    for block in cloud.blocks():
        for first in range(0, len(block), _BATCH):
            part = block[first : first + _BATCH]
            collection.add(ids=[str(start + place) for place in range(len(part))], embeddings=part)
            start += len(part)
    return lambda vector: collection.query(query_embeddings=vector.reshape(1, -1), n_results=_TEN)
