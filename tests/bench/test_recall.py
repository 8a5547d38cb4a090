"""`python -m bench recall`: a table, a plot, and a word where there are no sets."""

from pathlib import Path
from xml.etree import ElementTree

import pytest

from bench import __main__ as bench
from bench import recall
from bench.plot import bars
from tests.doors.cli.benchmark.labelled_sets import write_set

pytestmark = pytest.mark.process


def test_a_table_and_a_plot_of_the_sets_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder, svg = write_set(tmp_path / "tiny"), tmp_path / "plot.svg"
    bench.main(["recall", str(folder), "--provider", "none", "--svg", str(svg)])
    first, heading, rule, line = capsys.readouterr().out.splitlines()
    assert first == "== recall"
    cells = dict(zip(heading.split(" | "), line.split(" | "), strict=True))
    assert (cells["| set"], cells["n"], cells["R@5"], cells["hit@1"]) == ("| tiny", "3", "0.500", "0.667")
    assert rule.count("|") == heading.count("|")
    assert ">tiny</text>" in svg.read_text(encoding="utf-8")


def test_without_sets_it_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(recall, "SETS", tmp_path / "none")
    recall.main()
    assert "there are no labelled sets beside this repository" in capsys.readouterr().out
    write_set(tmp_path / "one")
    assert recall.open_sets(tmp_path) == [tmp_path / "one"]


def test_a_plot_is_well_formed_and_as_high_as_its_values() -> None:
    picture = ElementTree.fromstring(bars("A & B", {"<set>": {"R@5": 0.5, "R@10": 1.0}}, ("R@5", "R@10")))
    shapes = [one for one in picture.iter() if one.tag.endswith("rect") and list(one)]
    assert [float(one.attrib["height"]) for one in shapes] == [110, 220]
    assert [one[0].text for one in shapes] == ["R@5 0.500", "R@10 1.000"]


def test_only_what_follows_a_benchmark_with_arguments_is_its_own(tmp_path: Path) -> None:
    (tmp_path / "plain.py").write_text('"""One."""\ndef main() -> None: ...\n')
    (tmp_path / "asking.py").write_text('"""Two."""\ndef main(arguments=()) -> None: ...\n')
    assert bench.split(["plain", "asking", "plain", "--x"], tmp_path) == (["plain", "asking"], ["plain", "--x"])
    assert bench.split(["plain", "--list"], tmp_path) == (["plain", "--list"], [])
