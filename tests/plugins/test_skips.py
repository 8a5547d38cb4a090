"""A skip passes on a developer's machine and fails in CI, with its reason."""

from pathlib import Path

import pytest

from tests.plugins.runs import run_pytest

pytestmark = pytest.mark.process

_SKIP = "import pytest\ndef test_skips():\n    pytest.skip('no such disk')\ndef test_runs(): pass\n"
_SKIP_ALL = "import pytest\npytest.skip('no such system', allow_module_level=True)\n"
_EXPECTED = "import pytest\n@pytest.mark.xfail(strict=True)\ndef test_fails():\n    assert False\n"


@pytest.mark.parametrize("workers", ["-n0", "-n1"])
@pytest.mark.parametrize(("test", "reason"), [(_SKIP, "no such disk"), (_SKIP_ALL, "no such system")])
def test_a_skip_fails_a_run_in_ci(tmp_path: Path, workers: str, test: str, reason: str) -> None:
    run = run_pytest(tmp_path, test, workers, plugin="skips", CI="true")
    assert run.returncode == pytest.ExitCode.TESTS_FAILED, run.stdout + run.stderr
    assert reason in run.stdout


def test_a_skip_passes_elsewhere(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, _SKIP, plugin="skips", CI="").returncode == pytest.ExitCode.OK


def test_an_expected_failure_is_not_a_skip(tmp_path: Path) -> None:
    assert run_pytest(tmp_path, _EXPECTED, plugin="skips", CI="true").returncode == pytest.ExitCode.OK
