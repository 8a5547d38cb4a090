"""Asks pgvector and PostgreSQL's full-text search for the same rows, plain and without row-level security."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from functools import partial
from typing import Any, LiteralString, cast

import psycopg

from bench.scale_clock import compared
from bench.scale_table import DIMENSIONS, Ratio
from recollectum.domain.models.embedder import Purpose
from recollectum.recall.vectors.quantisation import dequantise, unpack_rows
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.vault import Vault
from tests.plugins.postgres import PostgresDatabase

_EXTENSION = "SELECT 1 FROM pg_available_extensions WHERE name = 'vector'"
_VECTORS = "SELECT chunk, substr(data, 2) FROM recollectum.vectors ORDER BY chunk"
_NEAREST = "SELECT chunk FROM peers.{table} ORDER BY embedding <=> %s::halfvec LIMIT 60"
_WORDS = """
    WITH asked AS (SELECT to_tsquery('simple', %s) AS query)
    SELECT chunk FROM peers.texts, asked WHERE words @@ query ORDER BY ts_rank_cd(words, query) DESC LIMIT 60
"""
_BY_WORDS = "tsvector with GIN"


def measure(
    vault: Vault, database: PostgresDatabase, texts: Sequence[str], questions: Sequence[str], rounds: int
) -> Iterator[Ratio]:
    """Yield a whole recall of ours beside each of the parts that the server would do; none of them has a limit."""
    with closing(_Peers(database)) as peers:
        asked = peers.filled(texts, questions)
        works: dict[str, Callable[[], object]] = {
            "ours": lambda: [vault.recall(question) for question in questions],
            **{name: partial(peers.ask, name, values) for name, values in asked.items()},
        }
        for work in works.values():
            work()
        found = compared(rounds, works)
    for name in asked:
        ours, theirs = found["ours"].divided(len(questions)), found[name].divided(len(questions))
        yield Ratio.of(f"a whole recall beside {name}, {len(texts):,} chunks", ours, theirs, None)


class _Peers:
    """Tables with an exact scan, an HNSW index and a full-text index over the same rows."""

    def __init__(self, database: PostgresDatabase) -> None:
        self._connection: psycopg.Connection[tuple[Any, ...]] = psycopg.connect(
            database.administrator_url, autocommit=True, prepare_threshold=1
        )
        self._statements = {_BY_WORDS: _WORDS}

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def filled(self, texts: Sequence[str], questions: Sequence[str]) -> dict[str, list[str]]:
        """Fill the tables; return the questions as each way to search takes them."""
        self._run("CREATE SCHEMA peers")
        self._run("CREATE TABLE peers.texts (chunk bigint PRIMARY KEY, words tsvector)")
        with self._connection.cursor() as cursor:
            numbered = list(enumerate(texts, start=1))
            cursor.executemany("INSERT INTO peers.texts VALUES (%s, to_tsvector('simple', %s))", numbered)
        self._run("CREATE INDEX ON peers.texts USING gin (words)")
        asked = {_BY_WORDS: [" | ".join(question.split()) for question in questions]}
        if self._run(_EXTENSION):
            self._run("CREATE EXTENSION vector")
            self._add_vectors()
            vectors = ScriptedEmbedder(dimensions=DIMENSIONS).embed(list(questions), Purpose.QUERY)
            for name, table in (("pgvector, exact", "exact"), ("pgvector, HNSW", "hnsw")):
                asked[name] = [str(row.tolist()) for row in vectors]
                self._statements[name] = _NEAREST.format(table=table)
        self._run("ANALYZE")
        return asked

    def ask(self, name: str, values: Sequence[str]) -> None:
        """Ask every question."""
        for value in values:
            self._connection.execute(cast("LiteralString", self._statements[name]), (value,)).fetchall()

    def _add_vectors(self) -> None:
        found = self._connection.execute(_VECTORS).fetchall()
        rows = dequantise(*unpack_rows([bytes(row[1]) for row in found], DIMENSIONS))
        for table in ("exact", "hnsw"):
            self._run(f"CREATE TABLE peers.{table} (chunk bigint PRIMARY KEY, embedding halfvec({DIMENSIONS}))")
            into = f"COPY peers.{table} FROM STDIN"
            with self._connection.cursor() as cursor, cursor.copy(into) as copy:
                for (chunk, _), row in zip(found, rows, strict=True):
                    copy.write_row((chunk, str(row.tolist())))
        self._run("CREATE INDEX ON peers.hnsw USING hnsw (embedding halfvec_cosine_ops)")

    def _run(self, statement: str) -> list[tuple[Any, ...]]:
        cursor = self._connection.execute(cast("LiteralString", statement))
        return cursor.fetchall() if cursor.description else []
