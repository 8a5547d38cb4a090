"""`python -m bench search`: a line for every way of searching, and the other facts."""

import pytest

from bench import __main__ as bench
from bench.search_data import DIMENSIONS, Cloud, Talk

pytestmark = pytest.mark.process

SIZE = 300


def cells(output: str) -> dict[str, list[str]]:
    """The lines of a benchmark's tables, by what they measure."""
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in output.splitlines() if line[:1] == "|"]
    return {line[1]: line for line in lines if line[0] in ("", str(SIZE))}


def test_every_line_is_there(capsys: pytest.CaptureFixture[str]) -> None:
    bench.main(["search", "--sizes", str(SIZE), "--questions", "5"])
    found = cells(capsys.readouterr().out)
    for what in ("vault.recall", "vector part", "plain int8 scan", "text part", "bare FTS5, all words"):
        assert all(float(cell) >= 0 for cell in found[what][2:6])
    assert found["vector part"][6].endswith("× plain int8 scan")
    assert found["text part"][6].endswith("× bare FTS5, all words")
    # Below the coarse layer the search is exact, but for the rounding to bytes.
    assert float(found["recall@10 of the vector part against exact f32"][2]) > 0.9
    assert "ms CPU" in found["first search of a process"][2]
    assert found["memory"][2].endswith("× the vectors")
    assert any(what.startswith("embedding the question") for what in found)


def test_texts_and_vectors_are_the_same_every_time() -> None:
    assert Talk(3).turn() == Talk(3).turn() != Talk(4).turn()
    cloud = Cloud(SIZE)
    (first,), (second,) = cloud.blocks(), Cloud(SIZE).blocks()
    assert first.shape == (SIZE, DIMENSIONS)
    assert (first == second).all()
    places = cloud.truth(first[:5], 3)
    # Each is nearest to itself.
    assert places[:, 0].tolist() == [0, 1, 2, 3, 4]
