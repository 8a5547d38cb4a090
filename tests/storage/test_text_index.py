"""The full-text index of a large vault: the same best matches, without ranking every chunk that has a frequent word."""

import random
from typing import cast

import apsw
import pytest

from recollect.storage.sqlite.text_index import SqliteTextIndex
from recollect.text.narrowing import SMALL, any_of

LARGE = SMALL + 5_000
NEEDLE = 17_003


def filled(size: int) -> SqliteTextIndex:
    chance = random.Random(5)
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE search USING fts5 (terms, content = '', contentless_delete = 1)")
    index = SqliteTextIndex(connection)
    with connection:
        for number in range(1, size + 1):
            words = ["often"] * (number % 11 == 0) + ["common"] * (number % 12 == 0) + ["seldom"] * (number % 900 == 0)
            words += ["left"] * (number % 24 in (1, 2)) + ["right"] * (number % 24 in (5, 6))
            index.add([(number, " ".join([*words, *(f"w{chance.randrange(50)}" for _ in range(6))]))])
        index.remove([NEEDLE])
        index.add([(NEEDLE, "needle often common")])
    return index


@pytest.fixture(scope="module")
def large() -> SqliteTextIndex:
    return filled(LARGE)


def exact(index: SqliteTextIndex, phrases: list[str], limit: int) -> list[tuple[int, float]]:
    connection: apsw.Connection = index._connection  # pyright: ignore[reportPrivateUsage]
    sql = f"SELECT number, score FROM ({index.matching}) ORDER BY score DESC, number DESC LIMIT :limit"
    rows = connection.execute(sql, {"expression": any_of(phrases), "limit": limit}).fetchall()
    return cast(list[tuple[int, float]], rows)


def test_in_a_small_index_every_match_is_ranked() -> None:
    index = filled(600)
    phrases = ["often", "common", "w7", "nowhere"]
    assert index.narrow(phrases) == ("often OR common OR w7 OR nowhere",)
    assert index.best(phrases, 400) == exact(index, phrases, 400)
    assert index.best([], 10) == []
    assert index.narrow([]) == ()


def test_nothing_in_an_empty_index() -> None:
    assert filled(0).best(["often"], 10)[0][0] == NEEDLE
    assert filled(0).best(["seldom"], 10) == []


@pytest.mark.feature("G11")
def test_in_a_large_index_frequent_phrases_count_only_beside_others(large: SqliteTextIndex) -> None:
    phrases = ["often", "common", "needle"]
    assert large.narrow(phrases) == ("needle", "(common OR often) AND (needle)")
    # Ranked by all its phrases, not by the rare one alone.
    assert large.best(phrases, 100)[0] == pytest.approx(exact(large, phrases, 1)[0])


def test_the_best_are_the_same_where_rare_and_frequent_phrases_meet(large: SqliteTextIndex) -> None:
    phrases = ["often", "common", "seldom"]
    best, expected = large.best(phrases, 10), exact(large, phrases, 10)
    assert [number for number, _ in best] == [number for number, _ in expected]


def test_of_one_frequent_phrase_some_are_found(large: SqliteTextIndex) -> None:
    found = large.best(["w7", "nowhere"], 100)
    assert len(found) == 100
    assert {number for number, _ in found} <= {number for number, _ in exact(large, ["w7"], LARGE)}


def test_phrases_that_never_meet_are_found_alone(large: SqliteTextIndex) -> None:
    (expression,) = large.narrow(["left", "right"])
    assert " AND " in expression
    assert len(large.best(["left", "right"], 30)) == 30
