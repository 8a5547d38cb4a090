"""Fails a run in which this process, a worker or a program it started asked for a network socket."""

import importlib
import os
import sys
import tempfile
from collections.abc import Generator
from pathlib import Path

import pytest

GUARD = Path(__file__).parents[1] / "guard"
RECORD = "SOCKET_GUARD_RECORD"
LOOPBACK = "SOCKET_GUARD_LOOPBACK"


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    """Start the guard, and hand it to every child through the environment."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(_Verdict(), "socket-verdict")
    # Under the name by which a child imports it, so that no interpreter has it twice.
    sys.path.insert(0, str(GUARD))
    importlib.import_module("socket_guard")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Let a test marked `loopback`, its fixtures and its children talk to this machine."""
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("loopback"):
            patch.setenv(LOOPBACK, "1")
        return (yield)


class _Verdict:
    """Owns the record of one run; workers and children only write to it."""

    def __init__(self) -> None:
        self._patch = pytest.MonkeyPatch()
        self._folder = tempfile.TemporaryDirectory(prefix="sockets-")
        self._record = Path(self._folder.name) / "refused"
        self._lines: list[str] = []
        self._patch.setenv(RECORD, str(self._record))
        self._patch.setenv("PYTHONPATH", str(GUARD), prepend=os.pathsep)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._record.exists():
            self._lines = self._record.read_text(encoding="utf-8").splitlines()
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._lines:
            terminalreporter.section("network sockets were asked for, which fails the run", red=True)
        for line in self._lines:
            terminalreporter.write_line(line)

    def pytest_unconfigure(self) -> None:
        self._patch.undo()
        self._folder.cleanup()
