"""Runs `pip install` with one line for each large download: `python -m tools.pip_progress PYTHON ARGUMENT…`.

It needs the standard library alone, because `make demo` runs it before anything is installed.
"""

import re
import subprocess
import sys
import time
from collections import deque
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

_FETCHED = re.compile(
    r"(?:Downloading|Using cached) (?:\S*/)?(?P<file>[^/\s]+\.(?:whl|tar\.gz)) \((?P<size>[\d.]+) (?P<unit>[kMG]?B)"
)
_ON_DISK = re.compile(r"Processing (?P<path>\S+\.whl)")
_UNITS = {"B": 1, "kB": 1_000, "MB": 1_000_000, "GB": 1_000_000_000}
#: Smaller downloads get no line.
_LARGE = 1_000_000
#: So many of the last lines are shown when pip fails.
_LAST_LINES = 25


@dataclass(slots=True)
class Progress:
    """What pip has said so far."""

    sizes: dict[str, int] = field(default_factory=dict[str, int])
    installed: int = 0
    last: deque[str] = field(default_factory=lambda: deque[str](maxlen=_LAST_LINES))

    def hear(self, line: str) -> str | None:
        """Take a line of pip; return what to tell the person, if anything."""
        self.last.append(line)
        name, size = _download(line)
        if name:
            self.sizes[name] = size
            return f"{name}  {megabytes(size)}" if size >= _LARGE else None
        if line.startswith("Installing collected packages:"):
            self.installed = line.count(",") + 1
            return f"unpacking {self.installed} packages"
        return None

    @property
    def fetched(self) -> int:
        """Return how many bytes were downloaded, or taken from pip's cache."""
        return sum(self.sizes.values())

    def summary(self, seconds: float) -> str:
        """Return what was done, in one line."""
        fetched = f"{megabytes(self.fetched)} downloaded or from pip's cache"
        return f"{self.installed} packages installed, {fetched}, in {seconds:.0f} s"


def run_pip(python: str, arguments: Iterable[str]) -> int:
    """Run `pip install` and print its progress; return its exit code."""
    began, progress = time.monotonic(), Progress()
    code = follow_pip(python, arguments, progress)
    if code:
        print("\n".join(progress.last), file=sys.stderr)
    else:
        print(f"   {progress.summary(time.monotonic() - began)}", flush=True)
    return code


def follow_pip(python: str, arguments: Iterable[str], progress: Progress) -> int:
    """Run `pip install`, print a line for each large download, and return its exit code."""
    line = [python, "-m", "pip", "install", "--disable-pip-version-check", "--progress-bar", "off", *arguments]
    with subprocess.Popen(line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as pip:
        assert pip.stdout is not None
        for said in pip.stdout:
            if told := progress.hear(said.strip()):
                print(f"   {told}", flush=True)
    return pip.returncode


def _download(line: str) -> tuple[str, int]:
    if found := _FETCHED.match(line):
        return _package(found["file"]), int(float(found["size"]) * _UNITS[found["unit"]])
    found = _ON_DISK.match(line)
    file = Path(found["path"]) if found else None
    return (_package(file.name), file.stat().st_size) if file and file.is_file() else ("", 0)


def _package(file: str) -> str:
    """Return the name and the version of a distribution's file."""
    name, version, *_ = file.removesuffix(".tar.gz").split("-")
    return f"{name.replace('_', '-')} {version}"


def megabytes(size: int) -> str:
    """Return a size for people."""
    return f"{size / 1_000_000:.1f} MB"


if __name__ == "__main__":
    sys.exit(run_pip(sys.argv[1], sys.argv[2:]))
