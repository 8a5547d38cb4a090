"""`python -m bench recall`: a table, a plot, and a word where there are no sets."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import __main__ as bench
from bench import recall
from bench.error_bars import ErrorBar, error_bar
from bench.kept_vectors import KeptVectors
from bench.open_sets import open_sets
from bench.plot import bars, ranges
from recollectum.domain.errors import InvalidInput
from recollectum.domain.models.embedder import Purpose
from recollectum.testing import ScriptedEmbedder
from tests.doors.cli.benchmark.labelled_sets import write_set

pytestmark = pytest.mark.process


def test_a_table_and_a_plot_of_the_sets_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, svg = write_set(tmp_path / "tiny"), tmp_path / "plot.svg"
    bench.main(["recall", str(folder), "--provider", "none", "--svg", str(svg)])
    first, heading, rule, line, _, legend = capsys.readouterr().out.splitlines()
    assert first == "== recall"
    cells = dict(zip(heading.split(" | "), line.split(" | "), strict=True))
    assert (cells["| set"], cells["vaults"], cells["questions"]) == ("| tiny", "2", "3")
    assert (cells["R@5"].split(" ±")[0], cells["hit@1"].split(" ±")[0]) == ("0.500", "0.667")
    assert "bootstrap over vaults" in legend
    assert rule.count("|") == heading.count("|")
    assert ">tiny</text>" in svg.read_text(encoding="utf-8")


def test_without_sets_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recall, "SETS", tmp_path / "none")
    recall.main()
    assert "there are no labelled sets beside this repository" in capsys.readouterr().out
    write_set(tmp_path / "one")
    assert open_sets(tmp_path) == [tmp_path / "one"]


def test_a_plot_is_well_formed_and_as_high_as_its_values() -> None:
    values = {"R@5": ErrorBar(0.5, 0.4, 0.6), "R@10": ErrorBar(1.0, 1.0, 1.0)}
    picture = ElementTree.fromstring(bars("A & B", {"<set>": values}, ("R@5", "R@10")))
    shapes = [one for one in picture.iter() if one.tag.endswith("rect") and list(one)]
    assert [float(one.attrib["height"]) for one in shapes] == [110, 220]
    assert [one[0].text for one in shapes] == ["R@5 0.500 ±.100", "R@10 1.000 ±.000"]
    whiskers = [one.attrib["d"] for one in picture.iter() if one.tag.endswith("path")]
    assert whiskers[0].endswith("144.0h8m-4 0V188.0m-4 0h8"), "from .6 to .4"


def test_a_plot_of_differences_has_a_panel_for_each_set_and_names_what_is_beyond_its_edge() -> None:
    values = {"words": ErrorBar(-2.0, -4.0, 0.0), "vectors": ErrorBar(-30.0, -35.0, -25.0)}
    picture = ElementTree.fromstring(ranges("A < B", {("one", "R@5"): values, ("two", "hit@1"): {}}))
    dots = [one for one in picture.iter() if one.tag.endswith("circle")]
    assert [one[0].text for one in dots] == ["words -2.0 (-4.0 to +0.0)", "vectors -30.0 (-35.0 to -25.0)"]
    words = [one.text for one in picture.iter() if one.tag.endswith("text")]
    assert {"one", "two", "R@5", "hit@1", "words", "vectors", "-30"} <= set(words)


def test_an_error_bar_draws_whole_vaults_and_the_questions_of_a_single_one() -> None:
    alike = error_bar([("a", 1.0)] * 50 + [("b", 0.0)] * 50)
    assert (alike.mean, alike.low, alike.high) == (0.5, 0.0, 1.0), "two vaults, not a hundred questions"
    alone = error_bar([("a", 1.0)] * 50 + [("a", 0.0)] * 50)
    assert alone.mean == 0.5
    assert 0.35 < alone.low < 0.45 < 0.55 < alone.high < 0.65
    uneven = error_bar([("a", 1.0)] * 3 + [("b", 0.0)])
    assert uneven.mean == 0.75, "every question counts once"


def test_kept_vectors_are_read_again_and_vectors_of_another_model_are_refused(tmp_path: Path) -> None:
    texts = [f"text {number}" for number in range(400)]
    first, again = (KeptVectors(ScriptedEmbedder("one"), tmp_path / "kept.db") for _ in range(2))
    made = first.embed(texts, Purpose.PASSAGE)
    first.close()
    assert (again.embed(texts, Purpose.PASSAGE) == made).all()
    assert (first.computed, again.computed, again.kept) == (400, 0, 400)
    assert 0 < again.checked < 20
    other = KeptVectors(ScriptedEmbedder("two"), tmp_path / "kept.db")
    with pytest.raises(InvalidInput, match="is not the model's; delete"):
        other.embed(texts, Purpose.PASSAGE)


@pytest.mark.parametrize("name", ["recall", "ranking", "calibration", "ingredients", "precision"])
def test_a_folder_without_a_set_is_told_in_one_sentence(name: str, tmp_path: Path) -> None:
    with pytest.raises(SystemExit) as ended:
        bench.main([name, str(tmp_path / "missing")])
    assert str(ended.value.code).startswith(f"python -m bench {name}: there is no ")
    assert "missing; give " in str(ended.value.code)


def test_only_what_follows_a_benchmark_with_arguments_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text('"""One."""\ndef main() -> None: ...\n')
    (tmp_path / "asking.py").write_text('"""Two."""\ndef main(arguments=()) -> None: ...\n')
    assert bench.split(["plain", "asking", "plain", "--x"], tmp_path) == (["plain", "asking"], ["plain", "--x"])
    assert bench.split(["plain", "--list"], tmp_path) == (["plain", "--list"], [])
