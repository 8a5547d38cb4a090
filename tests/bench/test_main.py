"""`python -m bench` finds what can be run and refuses a name it does not know."""

from pathlib import Path

import pytest

from bench import __main__ as bench

pytestmark = pytest.mark.process


def test_modules_with_a_main_are_found(tmp_path: Path) -> None:
    (tmp_path / "write.py").write_text('"""How fast a save is.\n\nMore."""\ndef main() -> None: ...\n')
    (tmp_path / "shared.py").write_text("def measure() -> None: ...\n")
    (tmp_path / "__main__.py").write_text("def main() -> None: ...\n")
    assert bench.benchmarks(tmp_path) == {"write": "How fast a save is."}


def test_the_ones_named_are_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("one", "two", "three"):
        (tmp_path / f"{name}.py").write_text(f'"""Number {name}."""\ndef main() -> None:\n    print("ran {name}")\n')
    monkeypatch.setattr(bench, "FOLDER", tmp_path)
    monkeypatch.setattr("bench.__path__", [str(tmp_path)])
    bench.main(["three", "one"])
    assert capsys.readouterr().out.splitlines() == ["== three", "ran three", "== one", "ran one"]
    bench.main(["--list"])
    assert capsys.readouterr().out.splitlines() == [f"{name:<16} Number {name}." for name in ("one", "three", "two")]


def test_an_unknown_name_is_refused_in_words(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        bench.main(["no-such-thing"])
    assert "no benchmark 'no-such-thing'" in capsys.readouterr().err
