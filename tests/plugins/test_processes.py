"""The quick run imports no file that it leaves out, and stops a test that starts a program without saying so."""

from pathlib import Path

import pytest

from tests.plugins.runs import run_pytest

pytestmark = pytest.mark.process
_QUICK = ("-m", "not process and not network and not browser and not slow")
_STARTS = "import subprocess, sys\ndef test_it():\n    subprocess.run([sys.executable, '-c', ''])\n"


@pytest.mark.parametrize(
    "marker", ["pytest.mark.slow", "pytest.mark.loopback", '[pytest.mark.usefixtures("home"), pytest.mark.process]']
)
def test_a_file_that_the_run_leaves_out_is_not_imported(tmp_path: Path, marker: str) -> None:
    test = f"import pytest\npytestmark = {marker}\nraise RuntimeError('imported')\n"
    assert "imported" not in run_pytest(tmp_path, test, *_QUICK, plugin="processes").stdout
    assert "imported" in run_pytest(tmp_path, test, plugin="processes").stdout


def test_a_file_with_one_test_of_the_run_is_imported(tmp_path: Path) -> None:
    test = "import pytest\n@pytest.mark.slow\ndef test_slow():\n    pass\ndef test_it():\n    pass\n"
    assert "1 passed, 1 deselected" in run_pytest(tmp_path, test, *_QUICK, plugin="processes").stdout


def test_a_program_needs_its_marker(tmp_path: Path) -> None:
    assert (
        "starts a program; mark it with pytest.mark.process"
        in run_pytest(tmp_path, _STARTS, *_QUICK, plugin="processes").stdout
    )
    assert "1 passed" in run_pytest(tmp_path, _STARTS, plugin="processes").stdout
