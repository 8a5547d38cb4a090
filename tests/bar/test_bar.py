"""Every promise of the bar that can be measured here reaches its target on a sample; the rest is a benchmark's."""

import ast
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from bench.bar import ROWS, line, main, measured
from bench.bar_proofs import Proofs
from bench.bar_row import Measured, Row

pytestmark = pytest.mark.process

_TESTS = Path(__file__).parents[1]
_MEASURED = [row for row in ROWS if row.measure and not isinstance(row.measure, Proofs)]
#: Rows that ask a real server on this machine.
_OVER_HTTP = (21, 26, 28, 30, 34)
_PROVEN = [(row.number, name) for row in ROWS if isinstance(row.measure, Proofs) for name in row.measure.names]


def test_there_are_forty_rows_and_each_is_measured_or_says_what_it_waits_for() -> None:
    assert [row.number for row in ROWS] == list(range(1, 41))
    assert all((row.measure is None) != (row.needs is None) for row in ROWS)


def _param(row: Row) -> ParameterSet:
    return pytest.param(row, id=f"{row.number}", marks=[pytest.mark.loopback] if row.number in _OVER_HTTP else [])


@pytest.mark.parametrize("row", [_param(row) for row in _MEASURED])
def test_a_promise_is_kept(row: Row) -> None:
    result = measured(row, long=False)
    if isinstance(result, str):
        pytest.skip(result)
    print(f"row {row.number}: {row.promise}: {result.said}; target: {row.target}")
    assert result.met, f"{row.promise}: {result.said}; target: {row.target}"


@pytest.mark.parametrize(("number", "name"), _PROVEN)
def test_what_a_promise_stands_on_is_a_test_of_this_suite(number: int, name: str) -> None:
    # They run where they are; running them here once more would show nothing new.
    file, _, function = name.partition("::")
    tree = ast.parse((_TESTS / file).read_text(encoding="utf-8"))
    assert function in {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}, f"row {number}"


def test_a_row_of_the_table_says_what_was_measured_and_what_was_not() -> None:
    row = Row(number=7, promise="it holds", target="0", measure=lambda long: Measured("3 lost", met=False))
    assert line(row, measured(row, long=False), 1.25) == "| 7 | it holds | 3 lost | 0 | **NO** | 1.2 |"
    waiting = Row(number=8, promise="it holds", target="0", needs="needs HTTP")
    assert line(waiting, measured(waiting, long=False), 0.0) == "| 8 | it holds | needs HTTP | 0 | – | 0.0 |"


def test_a_run_with_a_missed_target_fails(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    missed = Row(number=1, promise="it holds", target="0", measure=lambda long: Measured("3 lost", met=False))
    kept = Row(number=2, promise="it holds too", target="0", measure=lambda long: Measured("0 lost", met=True))
    waiting = Row(number=3, promise="it may hold", target="0", needs="needs HTTP")
    monkeypatch.setattr("bench.bar.ROWS", (missed, kept, waiting))
    with pytest.raises(SystemExit):
        main([])
    assert "1 reached, 1 missed, 1 not measured" in capsys.readouterr().out
    main(["2", "3"])
    assert "1 reached, 0 missed, 1 not measured" in capsys.readouterr().out
