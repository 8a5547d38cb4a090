"""The demo tells the truth, and would say so if it did not."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tools.demo import Story, sample, search

pytestmark = pytest.mark.process


@pytest.mark.feature("A3")
def test_the_demo_proves_its_claims_and_leaves_nothing_behind(tmp_path: Path) -> None:
    environ = {**os.environ, "TMPDIR": str(tmp_path)}
    program = [sys.executable, "-m", "tools.demo"]
    done = subprocess.run(program, capture_output=True, text=True, check=False, env=environ, timeout=60, cwd=ROOT)
    assert (done.returncode, done.stderr) == (0, "")
    for claim in ("'kingfisher', forgotten: 0 times", "they are found 0 times", "the history has both versions"):
        assert f"[ok] {claim}" in re.sub(r"in \d+ files ", "", done.stdout)
    assert "[FALSE]" not in done.stdout
    # The last words are a command that can be typed where `make demo` was.
    last = done.stdout.splitlines()[-1].partition("Next: ")[2]
    assert last == f"{Path(sys.executable).with_name('recollectum').relative_to(ROOT)} init"
    assert (ROOT / last.split()[0]).is_file()
    assert not list(tmp_path.iterdir())
    assert not Path(os.environ["RECOLLECTUM_HOME"]).exists()
    assert not (Path(os.environ["XDG_CONFIG_HOME"]) / "recollectum").exists()


def test_make_demo_installs_what_runs_and_tells_its_progress() -> None:
    line = ["make", "--dry-run", "--always-make", "--no-print-directory", "demo"]
    steps = subprocess.run(line, capture_output=True, text=True, check=True, cwd=ROOT).stdout.splitlines()
    (install,) = [step for step in steps if "pip" in step]
    assert (
        "-m tools.pip_progress .venv/bin/python --editable ./packages/recollectum-embed --editable '.[all]'" in install
    )
    # No group of dependencies, all of which are for developers.
    assert not [step for step in steps if "--group" in step]
    assert steps[-1] == ".venv/bin/python -m tools.demo"


def test_a_claim_that_is_false_fails_the_demo() -> None:
    # A word that was never forgotten takes the place of the one that was.
    program = "import sys; from tools import demo; demo.FORGOTTEN = demo.KEPT; sys.exit(demo.main())"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=60, cwd=ROOT
    )
    assert done.returncode == 1
    assert "[FALSE] once forgotten, recall does not find it" in done.stdout
    assert "[FALSE] 'vegetarian', forgotten: " in done.stdout
    assert "of the demo's own claims were false" in done.stderr


def test_a_false_claim_is_remembered(capsys: pytest.CaptureFixture[str]) -> None:
    story = Story()
    story.claim("water is wet", true=True)
    story.claim("the moon is cheese", true=False)
    assert story.false == ["the moon is cheese"]
    assert "[FALSE] the moon is cheese" in capsys.readouterr().out


def test_the_search_finds_what_is_there(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"\0\0a KINGfisher\0kingfisher")
    (tmp_path / "below").mkdir()
    (tmp_path / "below" / "b").write_bytes(b"kingfisher")
    assert list(search(tmp_path, ["kingfisher", "tea"])) == [2, 3, 0]


def test_the_sample_has_both_sides() -> None:
    assert {line["role"] for line in sample()} == {"user", "assistant"}
    assert not [line for line in sample() if "kingfisher" in line["content"]]
