"""The sign bits of many vectors: they find the candidates that a scan of all rows would, and cost little memory."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from recollectum.models.embedding.port import Vectors
from recollectum.models.embedding.vectors import to_unit_length
from recollectum.recall.vectors.matrix import SIGN_BITS_AFTER, VectorMatrix
from recollectum.recall.vectors.quantisation import quantise
from recollectum.recall.vectors.scan import ByteScan, SignScan
from recollectum.recall.vectors.sign_bits import nearest_rows, no_bits
from recollectum.storage.engine import VAULT
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate, shipped
from recollectum.storage.tables.index import generations, vectors
from recollectum.storage.tables.index.generations import GenerationState
from tests.matrix.homes import START, Turning

_DIMENSIONS = 384
_SIZE = 20_000


def _clustered(count: int, seed: int) -> Vectors:
    # As of a language model: all share a direction, and each lies near one of many centres.
    fixed = np.random.default_rng(0)
    shared, centres = fixed.standard_normal(_DIMENSIONS), fixed.standard_normal((200, _DIMENSIONS))
    chance = np.random.default_rng(seed)
    own = chance.standard_normal((count, _DIMENSIONS))
    return to_unit_length((1.5 * shared + centres[chance.integers(0, 200, count)] + 0.7 * own).astype(np.float32))


_ROWS, _QUERIES = _clustered(_SIZE, 1), _clustered(40, 2)


@pytest.fixture(scope="module")
def database(tmp_path_factory: pytest.TempPathFactory) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(Path(tmp_path_factory.mktemp("signs")) / "vault.db", SqliteOptions())
    migrate(opened, shipped(VAULT), clock=Turning(), backup=lambda _: None)
    opened.write(lambda tx: generations.add(tx, "model", GenerationState.CURRENT, START))
    _put(opened, 1, _ROWS)
    yield opened
    opened.close()


def _put(database: SqliteDatabase, first: int, rows: Vectors) -> None:
    generation = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
    assert generation is not None
    numbers = range(first, first + len(rows))
    database.write(lambda tx: vectors.add(tx, generation.id, zip(numbers, quantise(rows), strict=True)))
    database.write(lambda tx: generations.advance(tx, generation.id, numbers[-1]))


def _refresh(database: SqliteDatabase, matrix: VectorMatrix) -> None:
    generation = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
    assert generation is not None
    database.read(lambda tx: matrix.refresh(tx, generation))


def _loaded(database: SqliteDatabase, signed: int = 10_000) -> VectorMatrix:
    """Return the vectors after the first questions, which make no bits."""
    matrix = VectorMatrix(1, _DIMENSIONS, signed=signed)
    _refresh(database, matrix)
    for _ in range(SIGN_BITS_AFTER):
        assert isinstance(matrix.near(_QUERIES[0]).scan, ByteScan)
    return matrix


@pytest.mark.parametrize("dimensions", [1, 63, 64, 65, 256, 384])
def test_the_distance_counts_the_components_on_other_sides_of_their_means(dimensions: int) -> None:
    rows = np.random.default_rng(dimensions).integers(-127, 128, (100, dimensions), dtype=np.int8)
    asked = rows[3]
    none = no_bits(rows, np.ones(100, np.float32))
    at_once = none.extended(rows, 100)
    step_by_step = none.extended(rows[:10], 20).extended(rows[:20], 20).extended(rows, 110)
    kept = rows[:, none.components].astype(int)
    assert kept.shape[1] == min(dimensions, 256)
    far = np.abs(asked[none.components].astype(int) - none.middle)
    telling = np.argsort(-far, kind="stable")[: (len(far) + 1) // 2]
    exact = ((kept > none.middle) != (kept[3] > none.middle))[:, telling].sum(axis=1)
    for bits in (at_once, step_by_step):
        assert bits.distances(asked).tolist() == exact.tolist()


def test_the_components_that_vary_most_have_bits() -> None:
    chance = np.random.default_rng(1)
    spread = chance.permutation(_DIMENSIONS)
    rows = np.rint(chance.standard_normal((2_000, _DIMENSIONS)) * (1 + spread / 16)).astype(np.int8)
    kept = no_bits(rows, np.ones(len(rows), np.float32)).components
    assert np.mean(spread[kept] >= _DIMENSIONS - 256) > 0.9


def test_only_the_first_questions_and_a_small_vault_are_compared_byte_by_byte(database: SqliteDatabase) -> None:
    assert isinstance(_loaded(database, signed=_SIZE).near(_QUERIES[0]).scan, SignScan)
    assert isinstance(_loaded(database, signed=_SIZE + 1).near(_QUERIES[1]).scan, ByteScan)


def test_the_bits_of_many_rows_are_made_in_steps() -> None:
    rows = np.random.default_rng(2).integers(-127, 128, (70_000, 64), dtype=np.int8)
    bits = no_bits(rows, np.ones(len(rows), np.float32)).extended(rows, len(rows))
    assert 0 < bits.count < len(rows)
    whole = bits.extended(rows, len(rows))
    assert whole.count == len(rows)
    assert whole.distances(rows[5])[: bits.count].tolist() == bits.distances(rows[5]).tolist()


def test_few_of_many_rows_are_scored_and_the_least_distances_are_among_them() -> None:
    distances = np.random.default_rng(3).binomial(128, 0.5, 200_000).astype(np.uint8)
    found = nearest_rows(distances, 128)
    assert 2_000 < len(found) < 10_000
    assert distances[found].max() <= np.delete(distances, found).min()
    sample = distances[:: len(distances) // 4_096]
    wanted = (3_072 + len(distances) // 256) * len(sample) // len(distances)
    assert found.tolist() == np.flatnonzero(distances <= np.sort(sample)[wanted]).tolist()
    # All of the nearest are where the sample is taken.
    distances[:: len(distances) // 4_096] = 0
    assert len(nearest_rows(distances, 128)) > 2_000
    assert nearest_rows(distances[:100], 128).tolist() == list(range(100))


def test_of_the_ten_nearest_by_exact_floats_nearly_all_are_found_by_their_bits(database: SqliteDatabase) -> None:
    matrix, found = _loaded(database), 0
    for query in _QUERIES:
        exact = np.argsort(-(_ROWS @ query), kind="stable")[:10] + 1
        found += len({int(number) for number in exact} & set(matrix.near(query).best(10)))
    assert found >= 0.99 * 10 * len(_QUERIES)


def test_a_filter_and_a_long_list_get_the_answer_of_a_whole_scan(database: SqliteDatabase) -> None:
    quick, whole = _loaded(database), _loaded(database, signed=_SIZE + 1)
    few, many = set(range(1, _SIZE, 400)), set(range(1, _SIZE, 2))
    for query in _QUERIES[:5]:
        one, other = quick.near(query), whole.near(query)
        assert isinstance(one.scan, SignScan)
        for allowed in (few, many):
            assert one.ranked(60, allowed) == other.ranked(60, allowed)
        assert one.ranked(1_000) == other.ranked(1_000)
        assert one.of([1, 700, _SIZE]) == other.of([1, 700, _SIZE])


def test_the_background_of_a_question_is_that_of_a_whole_scan(database: SqliteDatabase) -> None:
    quick, whole = _loaded(database), _loaded(database, signed=_SIZE + 1)
    for query in _QUERIES[:10]:
        mean, deviation = whole.near(query).background()
        assert quick.near(query).background() == pytest.approx((mean, deviation), rel=1e-6)


def test_memory_stays_near_what_the_vectors_take_with_their_bits(database: SqliteDatabase) -> None:
    matrix = _loaded(database)
    before = matrix.held_bytes
    matrix.near(_QUERIES[0])
    assert matrix.held_bytes > before
    assert matrix.held_bytes <= 1.33 * len(matrix) * _DIMENSIONS


def test_what_is_written_later_is_found_by_its_bits(database: SqliteDatabase) -> None:
    matrix = _loaded(database)
    matrix.near(_QUERIES[0])
    for seed in (3, 4):
        new = _clustered(1_500, seed)
        first = len(matrix) + 1
        _put(database, first, new)
        _refresh(database, matrix)
        nearest = matrix.near(new[-1])
        assert isinstance(nearest.scan, SignScan)
        assert nearest.best(1) == [first + len(new) - 1]


def test_where_the_bits_of_most_rows_are_equal_the_nearest_are_found_too(tmp_path: Path) -> None:
    # A vault full of one text: thousands are equally near by their bits.
    same, other = _clustered(1, 5), _clustered(30, 6)
    database = SqliteDatabase(tmp_path / "vault.db", SqliteOptions())
    migrate(database, shipped(VAULT), clock=Turning(), backup=lambda _: None)
    database.write(lambda tx: generations.add(tx, "model", GenerationState.CURRENT, START))
    _put(database, 1, np.concatenate([np.repeat(same, 11_000, axis=0), other]))
    matrix = _loaded(database)
    nearest = matrix.near(same[0])
    assert isinstance(nearest.scan, SignScan)
    assert set(nearest.best(60)) <= set(range(1, 11_001))
    database.close()
