"""The coarse layer: made in steps, right about filters, and gone with what it was made from."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import apsw
import numpy as np
import pytest

from recollectum.models.embedding.port import Vectors
from recollectum.models.embedding.vectors import to_unit_length
from recollectum.recall.vectors import ivf
from recollectum.recall.vectors.matrix import VectorMatrix
from recollectum.recall.vectors.quantisation import quantise
from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.connection import connect
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions, SqliteTx
from recollectum.storage.sqlite.migrate import migrate, shipped
from recollectum.storage.tables.index import coarse as table
from recollectum.storage.tables.index import generations, vectors
from recollectum.storage.tables.index.generations import Generation, GenerationState
from tests.matrix.homes import START, Turning
from tests.storage.statements import traced

pytestmark = pytest.mark.slow

_DIMENSIONS, _SIZE, _SCANNED = 64, 5000, 1000


def _random(count: int, seed: int) -> Vectors:
    centres = np.random.default_rng(0).standard_normal((60, _DIMENSIONS))
    chance = np.random.default_rng(seed)
    rows = centres[chance.integers(0, 60, count)] + 0.7 * chance.standard_normal((count, _DIMENSIONS))
    return to_unit_length(rows.astype(np.float32))


_ROWS, _QUERIES = _random(_SIZE, 1), _random(50, 2)


@pytest.fixture
def database(place: Path) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(place / "vault.db", SqliteOptions())
    migrate(opened, shipped(VAULT), clock=Turning(), backup=lambda _: None)
    generation = opened.write(lambda tx: generations.add(tx, "model", GenerationState.CURRENT, START))
    _put(opened, generation, 1, _ROWS)
    yield opened
    opened.close()


def _put(database: SqliteDatabase, generation: Generation, first: int, rows: Vectors) -> None:
    entries = list(enumerate(quantise(rows), first))
    database.write(lambda tx: vectors.add(tx, generation.id, entries))
    database.write(lambda tx: generations.advance(tx, generation.id, entries[-1][0]))


def _generation(database: SqliteDatabase) -> Generation:
    found = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
    assert found is not None
    return found


def _refreshed(database: SqliteDatabase, matrix: VectorMatrix | None = None) -> VectorMatrix:
    generation = _generation(database)
    loaded = matrix or VectorMatrix(generation.id, _DIMENSIONS, scanned=_SCANNED)
    database.read(lambda tx: loaded.refresh(tx, generation))
    return loaded


def _step(database: SqliteDatabase) -> bool:
    return ivf.build_step(database, _generation(database), size=_SIZE, dimensions=_DIMENSIONS)


def _built(database: SqliteDatabase) -> VectorMatrix:
    while _step(database):
        pass
    return _refreshed(database)


def _scanned(matrix: VectorMatrix) -> int:
    return matrix.near(_QUERIES[0]).scan.count


def test_until_it_is_built_every_vector_is_scanned_and_after_that_a_part(database: SqliteDatabase) -> None:
    matrix = _refreshed(database)
    exact = [matrix.near(query).best(10) for query in _QUERIES]
    while _step(database):
        # Another process goes on where this one stopped: nothing is kept but what the vault has.
        assert _refreshed(database, matrix).wants_lists or _scanned(matrix) < _SIZE
    _refreshed(database, matrix)
    assert not matrix.wants_lists
    assert _SCANNED <= _scanned(matrix) < _SIZE / 2
    assert len(matrix) == _SIZE
    found = [matrix.near(query).best(10) for query in _QUERIES]
    same = sum(len(set(one) & set(other)) for one, other in zip(exact, found, strict=True))
    assert same >= 0.99 * 10 * len(_QUERIES)


def test_with_all_lists_the_answer_is_the_exact_one(database: SqliteDatabase) -> None:
    plain = _refreshed(database)
    matrix = _built(database)
    for query in _QUERIES:
        assert matrix.near(query, scanned=_SIZE).best(20) == plain.near(query).best(20)
        assert matrix.near(query).of([7, _SIZE, 0]) == plain.near(query).of([7, _SIZE, 0])


def test_a_new_process_reads_each_vector_once(database: SqliteDatabase) -> None:
    _built(database)
    generation = _generation(database)
    plain = VectorMatrix(generation.id, _DIMENSIONS)
    grouped = VectorMatrix(generation.id, _DIMENSIONS, scanned=_SCANNED)
    with traced() as log:
        other = SqliteDatabase(database.path, SqliteOptions())
        pages, with_cells = (
            log.of(lambda one=one: other.read(lambda tx: one.refresh(tx, generation))) for one in (plain, grouped)
        )
    other.close()
    assert _scanned(grouped) < _SIZE == _scanned(plain)
    assert _count_pages(with_cells) == _count_pages(pages) > _SIZE / 1024


def _count_pages(statements: Sequence[str]) -> int:
    return sum("FROM vectors" in one for one in statements)


@pytest.mark.parametrize("count", [1, 30, 4000])
def test_a_filter_is_answered_exactly(database: SqliteDatabase, count: int) -> None:
    plain = _refreshed(database)
    matrix = _built(database)
    for query in _QUERIES[:10]:
        # The farthest of all, none of which lies in a list that the question would look at.
        within = {int(place) + 1 for place in np.argsort(_ROWS @ query)[:count]}
        assert matrix.near(query).best(20, within) == plain.near(query).best(20, within)


def test_what_is_written_later_is_found_at_once(database: SqliteDatabase) -> None:
    matrix = _built(database)
    late = _random(40, 3)
    _put(database, _generation(database), _SIZE + 1, late)
    _refreshed(database, matrix)
    for place, row in enumerate(late):
        assert matrix.near(row).best(1) == [_SIZE + 1 + place]
        assert matrix.near(row).of([_SIZE + 1 + place]) == [pytest.approx(1, abs=0.001)]


def test_a_chunk_that_is_taken_out_leaves_no_list_behind(database: SqliteDatabase) -> None:
    _built(database)
    gone = range(1, 101)
    database.write(lambda tx: vectors.remove(tx, gone))
    generation = _generation(database)
    left = database.read(lambda tx: table.cells(tx, generation.id, 0, _SIZE))
    assert [number for number, _ in left] == list(range(101, _SIZE + 1))
    matrix = _refreshed(database)
    for query in _ROWS[:20]:
        assert not set(matrix.near(query).best(50)) & set(gone)


def test_it_goes_with_its_generation(database: SqliteDatabase) -> None:
    _built(database)
    generation = _generation(database)
    database.write(lambda tx: generations.drop(tx, generation.id))
    assert database.read(lambda tx: table.find(tx, generation.id)) is None
    assert database.read(lambda tx: table.cells(tx, generation.id, 0, 1)) == []
    assert not ivf.build_step(database, generation, size=_SIZE, dimensions=_DIMENSIONS)


def test_it_is_made_again_when_the_vault_has_outgrown_it(database: SqliteDatabase) -> None:
    _built(database)
    generation = _generation(database)
    first = database.read(lambda tx: table.find(tx, generation.id))
    assert ivf.build_step(database, generation, size=5 * _SIZE, dimensions=_DIMENSIONS)
    assert database.read(lambda tx: table.find(tx, generation.id)) is None
    _built(database)
    again = database.read(lambda tx: table.find(tx, generation.id))
    assert first is not None
    assert again is not None
    assert again.number > first.number


def test_how_far_it_has_come_is_told_without_reading_the_middles(database: SqliteDatabase) -> None:
    generation = _generation(database)
    database.write(lambda tx: table.begin(tx, generation.id, _SIZE, bytes(4_000_000)))
    layer = database.read(lambda tx: table.find(tx, generation.id))
    assert layer is not None
    database.write(lambda tx: table.assign(tx, generation.id, layer, [], done=_SIZE))
    database.close()
    connection = connect(database.path)
    assert table.find(SqliteTx(connection), generation.id) is not None
    pages, _ = connection.status(apsw.SQLITE_DBSTATUS_CACHE_MISS)
    connection.close()
    assert pages < 50


def test_middles_from_before_they_had_a_table_of_their_own_are_kept(place: Path) -> None:
    steps = shipped(VAULT)
    opened = SqliteDatabase(place / "older.db", SqliteOptions())
    before = [step.name for step in steps].index("search")
    migrate(opened, steps[:before], clock=Turning(), backup=lambda _: None)
    generation = opened.write(lambda tx: generations.add(tx, "model", GenerationState.CURRENT, START))
    opened.write(
        lambda tx: tx.run(
            "INSERT INTO coarse (generation, size, middles, rounds, done) VALUES (:id, 7, :middles, 3, 5)",
            {"id": generation.id, "middles": b"middles"},
        )
    )
    migrate(opened, steps, clock=Turning(), backup=lambda _: None)
    layer = opened.read(lambda tx: table.find(tx, generation.id))
    assert layer is not None
    assert (layer.size, layer.rounds, layer.done) == (7, 3, 5)
    assert opened.read(lambda tx: table.centroids(tx, layer)) == b"middles"
    opened.write(lambda tx: table.drop(tx, layer))
    assert opened.read(lambda tx: table.centroids(tx, layer)) == b""
    opened.close()
