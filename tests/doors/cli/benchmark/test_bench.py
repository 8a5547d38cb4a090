"""`recollectum bench recall` on a made-up set, against values worked out by hand."""

import json
import math
from pathlib import Path

import pytest

from recollectum.home.paths import Home, home_root
from tests.doors.cli.benchmark.labelled_sets import UNITS, Line, write_set
from tests.doors.cli.calls import ok, refused

pytestmark = pytest.mark.process

#: Of three questions one is answered, one is not, and of one half the gold is found, at the first place.
HALF = 1 / (1 + 1 / math.log2(3))
EXPECTED = {
    "set": "tiny",
    "units": 5,
    "queries": 3,
    "R@1": 0.5,
    "R@5": 0.5,
    "R@10": 0.5,
    "session R@5": 0.5,
    "session R@10": 0.5,
    "hit@1": 0.6667,
    "MRR": 0.6667,
    "nDCG@10": round((1 + HALF) / 3, 4),
    "degraded": 0,
}


@pytest.mark.parametrize("packed", [False, True])
def test_the_numbers_are_the_ones_worked_out_by_hand(tmp_path: Path, *, packed: bool) -> None:
    found = ok("bench", "recall", str(write_set(tmp_path / "tiny", packed=packed)), "--json")
    assert {name: found.json[name] for name in EXPECTED} == EXPECTED
    # 23 letters and spaces, and 25.
    assert found.json["tokens"] == round((6 + 7) / 3, 1)
    assert 0 < found.json["CPU p50 ms"] <= found.json["CPU p95 ms"]
    assert not [name for name in found.json if "/" in name]
    assert all(isinstance(value, str | int | float) for value in found.json.values())
    assert found.err == ""


def test_rows_tell_what_came_of_each_question(tmp_path: Path) -> None:
    file = tmp_path / "rows.jsonl"
    ok("bench", "recall", str(write_set(tmp_path / "tiny")), "--rows", str(file))
    rows = {row["id"]: row for row in map(json.loads, file.read_text(encoding="utf-8").splitlines())}
    assert list(rows) == ["q1", "q2", "q3"]
    assert (rows["q1"]["gold"], rows["q1"]["ranked"], rows["q1"]["R@1"]) == (["u2"], ["u2"], 1.0)
    assert (rows["q2"]["ranked"], rows["q2"]["session R@5"]) == ([], 0.0)
    assert (rows["q3"]["ns"], rows["q3"]["R@5"], rows["q3"]["rung"]) == ("b", 0.5, "text")
    assert not any(word in file.read_text(encoding="utf-8") for word in ("piano", "violin"))


def test_categories_are_told_apart_where_there_are_several(tmp_path: Path) -> None:
    queries: list[Line] = [
        {"ns": "a", "id": "q1", "category": "one", "text": "piano", "gold": ["u2"]},
        {"ns": "a", "id": "q2", "category": "two", "text": "zebra", "gold": ["u1"]},
    ]
    folder = str(write_set(tmp_path / "tiny", UNITS, queries))
    found = ok("bench", "recall", folder, "--json").json
    assert (found["R@5"], found["one / R@5"], found["two / R@5"], found["two / queries"]) == (0.5, 1, 0, 1)
    lines = ok("bench", "recall", folder).out.splitlines()
    assert lines[0] == "tiny"
    assert lines[1].split() == ["n", "R@1", "R@5", "R@10", "hit@1", "MRR", "nDCG"]
    assert [line.split()[:3] for line in lines[2:5]] == [
        ["all", "2", "0.500"],
        ["one", "1", "1.000"],
        ["two", "1", "0.000"],
    ]
    assert ok("bench", "recall", folder, "--limit-queries", "1", "--json").json["queries"] == 1


@pytest.mark.feature("G20")
def test_with_the_local_model_a_question_is_answered_by_meaning(tmp_path: Path) -> None:
    texts = [
        "I am a vegetarian",
        "The train is late",
        "My sister paints",
        "It rained all day",
        "He sold his car",
        "Rent",
    ]
    units: list[Line] = [
        {"ns": "a", "id": f"u{place}", "session": "s", "speaker": "Ann", "text": text}
        for place, text in enumerate(texts)
    ]
    queries: list[Line] = [{"ns": "a", "id": "q", "category": "", "text": "does she eat meat?", "gold": ["u0"]}]
    folder = write_set(tmp_path / "six", units, queries)
    found = ok("bench", "recall", str(folder), "--provider", "local", "--json")
    assert (found.json["hit@1"], found.json["rung"], found.json["degraded"], found.err) == (1, "hybrid", 0, "")
    assert ok("bench", "recall", str(folder), "--provider", "none", "--json").json["hit@1"] == 0


def test_the_persons_own_home_is_not_touched(tmp_path: Path) -> None:
    ok("bench", "recall", str(write_set(tmp_path / "tiny")))
    assert not Home(home_root(None, {"HOME": str(tmp_path)})).root.exists()
    assert "no home" in refused("status")


def test_a_folder_that_is_no_set_is_one_sentence(tmp_path: Path) -> None:
    assert "there is no queries.jsonl in" in refused("bench", "recall", str(tmp_path))
    folder = write_set(tmp_path / "bad", queries=[{"ns": "a", "id": "q", "text": "?", "gold": "u1"}])
    assert "queries.jsonl line 1 has a 'gold' that is not a list" in refused("bench", "recall", str(folder))
    (folder / "queries.jsonl").write_text('{"ns": "a"')
    assert "queries.jsonl line 1 is not a JSON object" in refused("bench", "recall", str(folder))
    (folder / "queries.jsonl").write_text("")
    assert "no query in" in refused("bench", "recall", str(folder))
    folder = write_set(tmp_path / "worse", units=[{"ns": "a", "id": "u1", "session": "s"}])
    assert "units.jsonl line 1 has no 'text'" in refused("bench", "recall", str(folder))


def test_rows_that_cannot_be_written_are_refused_before_the_work(tmp_path: Path) -> None:
    folder = str(write_set(tmp_path / "tiny"))
    assert "cannot be written" in refused("bench", "recall", folder, "--rows", str(tmp_path / "no" / "rows.jsonl"))
