"""The progress of an installation is read from what pip says."""

import sys
from pathlib import Path

import pytest

from tools.pip_progress import Progress, run_pip


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("Downloading onnx_runtime-1.31.1-cp311-cp311-linux_x86_64.whl (23.8 MB)", "onnx-runtime 1.31.1  23.8 MB"),
        ("Using cached numpy-2.4.6-cp311-cp311-linux_x86_64.whl (16.9 MB)", "numpy 2.4.6  16.9 MB"),
        ("Downloading old_thing-1.0.tar.gz (2.5 MB)", "old-thing 1.0  2.5 MB"),
        ("Downloading rich-15.0.0-py3-none-any.whl (310 kB)", None),
        ("Downloading rich-15.0.0-py3-none-any.whl.metadata (18 kB)", None),
        ("Installing collected packages: a, b, c", "unpacking 3 packages"),
        ("Collecting rich>=13", None),
    ],
)
def test_large_downloads_are_told(line: str, told: str | None) -> None:
    assert Progress().hear(line) == told


def test_the_summary_counts_small_ones_and_files_too(tmp_path: Path) -> None:
    file = tmp_path / "typer-0.29.1-py3-none-any.whl"
    file.write_bytes(b"x" * 400_000)
    progress = Progress()
    for line in (
        "Downloading a-1-py3-none-any.whl (600 kB)",
        f"Processing {file}",
        "Installing collected packages: a, b",
    ):
        progress.hear(line)
    assert progress.summary(2.4) == "2 packages installed, 1.0 MB downloaded or from pip's cache, in 2 s"


@pytest.mark.process
def test_a_failure_is_shown_with_its_code(capfd: pytest.CaptureFixture[str]) -> None:
    assert run_pip(sys.executable, ["--no-index", "no-such-package-of-anybody"]) == 1
    assert "no-such-package-of-anybody" in capfd.readouterr().err
