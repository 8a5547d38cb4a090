"""The vectors in memory: exact, current with other processes, and not to be upset by a damaged row."""

import sys
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollectum.models.embedding.port import Vectors
from recollectum.models.embedding.vectors import to_unit_length
from recollectum.recall.vectors.matrix import VectorMatrix
from recollectum.recall.vectors.quantisation import quantise
from recollectum.recall.vectors.query import FEEDBACK_WEIGHT, VectorQuery
from recollectum.recall.vectors.scan import ByteScan
from recollectum.storage.engine import VAULT
from recollectum.storage.port import Row, Tx
from recollectum.storage.sqlite.database import SqliteDatabase, SqliteOptions
from recollectum.storage.sqlite.migrate import migrate, shipped
from recollectum.storage.tables.index import generations, vectors
from recollectum.storage.tables.index.generations import Generation, GenerationState
from recollectum.storage.tables.index.vectors import JoinedVectors
from tests.matrix.homes import START, Turning, quick_folder

pytestmark = pytest.mark.slow

_DIMENSIONS = 384


@pytest.fixture
def database(place: Path) -> Iterator[SqliteDatabase]:
    opened = SqliteDatabase(place / "vault.db", SqliteOptions())
    migrate(opened, shipped(VAULT), clock=Turning(), backup=lambda _: None)
    yield opened
    opened.close()


def _random(count: int, seed: int, dimensions: int = _DIMENSIONS) -> Vectors:
    # Meanings lie in clusters, and questions near them: the centres are the same for every seed.
    centres = np.random.default_rng(0).standard_normal((20, dimensions))
    chance = np.random.default_rng(seed)
    rows = centres[chance.integers(0, 20, count)] + chance.standard_normal((count, dimensions))
    return to_unit_length(rows.astype(np.float32))


def _begin(database: SqliteDatabase) -> Generation:
    return database.write(lambda tx: generations.add(tx, "model", GenerationState.CURRENT, START))


def _put(database: SqliteDatabase, generation: Generation, numbers: list[int], data: list[bytes]) -> None:
    database.write(lambda tx: vectors.add(tx, generation.id, zip(numbers, data, strict=True)))
    database.write(lambda tx: generations.advance(tx, generation.id, max(numbers)))


def _refresh(database: SqliteDatabase, matrix: VectorMatrix) -> None:
    generation = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
    assert generation is not None
    database.read(lambda tx: matrix.refresh(tx, generation))


def _loaded(database: SqliteDatabase, rows: Vectors) -> VectorMatrix:
    generation = _begin(database)
    _put(database, generation, list(range(1, len(rows) + 1)), quantise(rows))
    matrix = VectorMatrix(generation.id, rows.shape[1])
    _refresh(database, matrix)
    assert len(matrix) == len(rows)
    return matrix


def _recall(matrix: VectorMatrix, rows: Vectors, queries: Vectors) -> float:
    """The share of the ten nearest by exact floats that are found."""
    found = 0
    for query in queries:
        exact = np.argsort(-(rows @ query), kind="stable")[:10] + 1
        found += len({int(number) for number in exact} & set(matrix.near(query).best(10)))
    return found / (10 * len(queries))


@pytest.mark.feature("G11")
def test_of_the_ten_nearest_by_exact_floats_nearly_all_are_found(database: SqliteDatabase) -> None:
    # Random vectors are the hard case: the tenth and the eleventh differ by less than a byte can say.
    rows, queries = _random(3000, 1), _random(100, 2)
    assert _recall(_loaded(database, rows), rows, queries) >= 0.99


def test_one_scan_finds_what_a_second_one_for_the_moved_question_would(database: SqliteDatabase) -> None:
    rows, queries = _random(5000, 14), _random(40, 15)
    matrix = _loaded(database, rows)
    same = 0
    for query in queries:
        middle = matrix.near(query).middle(3)
        again = matrix.near(query + np.float32(FEEDBACK_WEIGHT) * middle).best(100)
        nearest = VectorQuery(matrix, query)
        once = nearest.best(100, None)
        same += len(set(once) & set(again))
        assert once[:5] == again[:5]
        assert nearest.cosines(once[:5]) == pytest.approx(
            dict(zip(again[:5], matrix.near(query + np.float32(FEEDBACK_WEIGHT) * middle).of(again[:5]), strict=True)),
            abs=1e-6,
        )
    assert same >= 0.99 * 100 * len(queries)


@pytest.mark.feature("G11")
def test_what_is_found_is_all_but_as_near_as_the_nearest_by_exact_floats(database: SqliteDatabase) -> None:
    rows, queries = _random(3000, 1), _random(100, 2)
    matrix = _loaded(database, rows)
    for query in queries:
        tenth = float(np.sort(rows @ query)[-10])
        assert min(float(rows[number - 1] @ query) for number in matrix.near(query).best(10)) >= tenth - 0.005


@pytest.mark.feature("G11")
def test_a_cosine_is_that_of_exact_floats(database: SqliteDatabase) -> None:
    rows, query = _random(500, 3), _random(1, 4)[0]
    nearness = _loaded(database, rows).near(query)
    numbers = [7, 500, 1, 501, 0]
    cosines = nearness.of(numbers)
    assert cosines[3:] == [None, None]
    assert cosines[:3] == pytest.approx([float(rows[number - 1] @ query) for number in numbers[:3]], abs=0.01)


def test_without_simd_the_order_is_the_same(database: SqliteDatabase, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("numkong")
    rows, queries = _random(5000, 5), _random(10, 6)
    matrix = _loaded(database, rows)
    quick = [matrix.near(query) for query in queries]
    monkeypatch.setitem(sys.modules, "numkong", None)
    slow = [matrix.near(query) for query in queries]
    for one, other in zip(quick, slow, strict=True):
        assert one.best(100) == other.best(100)
        assert isinstance(one.scan, ByteScan)
        assert isinstance(other.scan, ByteScan)
        assert np.allclose(one.scan.scores, other.scan.scores, rtol=1e-6)


@given(
    st.lists(st.tuples(st.integers(-4, 4), st.integers(-4, 4)), max_size=30),
    st.integers(1, 40),
    st.none() | st.sets(st.integers(-2, 70), max_size=30),
)
def test_the_best_are_allowed_and_in_order(points: list[tuple[int, int]], most: int, allowed: set[int] | None) -> None:
    # Every other number, as in a vault from which pieces were taken.
    numbers = [2 * place for place in range(1, len(points) + 1)]
    with quick_folder() as folder:
        opened = SqliteDatabase(folder / "vault.db", SqliteOptions())
        migrate(opened, shipped(VAULT), clock=Turning(), backup=lambda _: None)
        generation = _begin(opened)
        if points:
            _put(opened, generation, numbers, quantise(np.array(points, np.float32)))
        matrix = VectorMatrix(generation.id, 2)
        _refresh(opened, matrix)
        opened.close()
    nearness = matrix.near(np.array([3, 4], np.float32))
    value = dict(zip(numbers, nearness.of(numbers), strict=True))
    lengths = [float(np.hypot(*point)) or 1.0 for point in points]
    exact = [(3 * x + 4 * y) / (5 * length) for (x, y), length in zip(points, lengths, strict=True)]
    assert list(value.values()) == pytest.approx(exact, abs=0.002)
    left = [number for number in numbers if allowed is None or number in allowed]
    order = sorted(left, key=lambda number: (-(value[number] or 0.0), -number))
    assert nearness.best(most, allowed) == order[:most]
    assert nearness.of([1, *numbers]) == [None, *value.values()]


def test_the_line_is_found_wherever_the_nearest_lie(database: SqliteDatabase) -> None:
    # All of the nearest stand side by side: a sample of the scores may miss them altogether.
    far, near = _random(20, 16)[:1], _random(20, 17)
    rows = np.concatenate([np.repeat(far, 9000, axis=0), near, np.repeat(far, 9000, axis=0)])
    matrix = _loaded(database, rows)
    middle = to_unit_length(near.mean(axis=0, keepdims=True))[0]
    exact = np.argsort(-(near @ middle), kind="stable") + 9001
    assert set(matrix.near(middle).best(20)) >= {int(number) for number in exact[:5]}


def test_a_damaged_row_is_passed_over(database: SqliteDatabase) -> None:
    data = quantise(_random(4, 7))
    generation = _begin(database)
    _put(database, generation, [1, 2, 3, 4], [data[0], b"short", b"", data[3]])
    matrix = VectorMatrix(generation.id, _DIMENSIONS)
    _refresh(database, matrix)
    assert sorted(matrix.near(_random(1, 8)[0]).best(10)) == [1, 4]
    # And it is not asked for again and again, nor does it hide what comes after.
    _put(database, generation, [5, 6], [b"x" * (_DIMENSIONS + 1), data[1]])
    _refresh(database, matrix)
    assert sorted(matrix.near(_random(1, 8)[0]).best(10)) == [1, 4, 6]


def test_vectors_are_read_in_one_piece_unless_their_lengths_differ(database: SqliteDatabase) -> None:
    rows, generation = quantise(_random(1200, 18)), _begin(database)
    numbers = [number for number in range(1, 1401) if number % 7]
    rows[700] = rows[700][:_DIMENSIONS]
    _put(database, generation, numbers, rows)
    pages = [database.read(lambda tx, after=after: _page(tx, generation, after)) for after in (0, 400, 800, 1399)]
    assert [joined is None for joined, _ in pages] == [False, False, True, True]
    for joined, plain in pages[:2]:
        assert joined is not None
        assert list(map(int, joined.chunks.split(","))) == [number for number, _ in plain]
        assert (joined.data, joined.size) == (b"".join(data for _, data in plain), len(rows[0]))
    matrix = VectorMatrix(generation.id, _DIMENSIONS)
    _refresh(database, matrix)
    assert len(matrix) == len(rows)
    assert all(matrix.near(_random(1200, 18)[place]).best(1) == [numbers[place]] for place in (0, 511, 700, 1199))


def _page(tx: Tx, generation: Generation, after: int) -> tuple[JoinedVectors | None, list[Row]]:
    return vectors.joined_after(tx, generation.id, after, 300), vectors.after(tx, generation.id, after, 300)


def test_nothing_is_a_matrix_too(database: SqliteDatabase) -> None:
    matrix = VectorMatrix(_begin(database).id, _DIMENSIONS)
    _refresh(database, matrix)
    nearness = matrix.near(_random(1, 9)[0])
    assert nearness.best(10) == []
    assert nearness.of([1, 2]) == [None, None]
    assert VectorQuery(matrix, _random(1, 9)[0]).best(10, {1}) == []


def test_zeros_are_near_to_nothing(database: SqliteDatabase) -> None:
    rows = np.concatenate([np.zeros((1, _DIMENSIONS), np.float32), _random(3, 10)])
    matrix = _loaded(database, rows)
    assert matrix.near(rows[0]).of([1, 2]) == [0.0, 0.0]
    assert matrix.near(rows[1]).of([1]) == [0.0]


def test_what_another_connection_writes_is_picked_up(database: SqliteDatabase) -> None:
    rows = _random(2500, 11)
    matrix = _loaded(database, rows[:10])
    generation = database.read(lambda tx: generations.find(tx, GenerationState.CURRENT))
    assert generation is not None
    other = SqliteDatabase(database.path, SqliteOptions())
    for begin, end in ((10, 11), (11, 1200), (1200, 2500)):
        _put(other, generation, list(range(begin + 1, end + 1)), quantise(rows[begin:end]))
        _refresh(database, matrix)
        assert len(matrix) == end
        assert matrix.near(rows[end - 1]).best(1) == [end]
        assert matrix.near(rows[0]).best(1) == [1]
    other.close()


def test_after_many_removals_everything_is_loaded_anew(database: SqliteDatabase) -> None:
    rows = _random(1200, 12)
    matrix = _loaded(database, rows)
    other = SqliteDatabase(database.path, SqliteOptions())
    other.write(lambda tx: vectors.remove(tx, range(1, 11)))
    _refresh(database, matrix)
    assert len(matrix) == 1200, "a few that are gone may stay"
    other.write(lambda tx: vectors.remove(tx, range(1, 601)))
    _refresh(database, matrix)
    assert len(matrix) == 600
    assert matrix.near(rows[0]).of([1, 601]) == [None, pytest.approx(float(rows[600] @ rows[0]), abs=0.01)]
    other.close()


def test_the_middle_of_the_nearest_vectors_is_theirs(database: SqliteDatabase) -> None:
    rows = _random(5, 13)
    nearness = _loaded(database, rows).near(rows[0])
    assert np.allclose(nearness.middle(1), rows[0], atol=0.001)
    nearest = [number - 1 for number in nearness.best(2)]
    assert np.allclose(nearness.middle(2), rows[nearest].mean(axis=0), atol=0.001)
    assert np.allclose(nearness.middle(9), rows.mean(axis=0), atol=0.001)


def test_signed_bytes_without_a_rest_are_read_too(database: SqliteDatabase) -> None:
    # As an earlier version wrote them.
    rows = _random(6, 18)
    data = quantise(rows)
    generation = _begin(database)
    _put(database, generation, list(range(1, 7)), [*(one[:_DIMENSIONS] for one in data[:5]), data[5]])
    matrix = VectorMatrix(generation.id, _DIMENSIONS)
    _refresh(database, matrix)
    assert matrix.near(rows[2]).of(list(range(1, 7))) == pytest.approx((rows @ rows[2]).tolist(), abs=0.005)


@pytest.mark.parametrize("dimensions", [1, 2, 3, 4, 5, 383])
def test_any_number_of_dimensions_will_do(database: SqliteDatabase, dimensions: int) -> None:
    rows = _random(50, 19, dimensions)
    nearness = _loaded(database, rows).near(rows[7])
    assert nearness.of(list(range(1, 51))) == pytest.approx((rows @ rows[7]).tolist(), abs=0.005)


def test_memory_stays_near_what_the_vectors_take(database: SqliteDatabase) -> None:
    generation = _begin(database)
    _put(database, generation, list(range(1, 10_001)), quantise(_random(10_000, 20)))
    matrix = VectorMatrix(generation.id, _DIMENSIONS)
    tracemalloc.start()
    _refresh(database, matrix)
    held, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert held <= 1.25 * 10_000 * _DIMENSIONS
    assert peak <= 1.5 * 10_000 * _DIMENSIONS, "no copy of everything while it is loaded"
