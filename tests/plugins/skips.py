"""Fails a run in CI that skipped a test: a skip is an accident of the machine, and CI must not hide it."""

import os

import pytest


def pytest_configure(config: pytest.Config) -> None:
    in_ci = os.environ.get("CI", "").lower() in ("true", "1")
    if in_ci and not hasattr(config, "workerinput"):
        config.pluginmanager.register(SkipsFail(), "skips-fail")


class SkipsFail:
    """Collects skips from this process or its workers and turns them into a failed run."""

    def __init__(self) -> None:
        self._reasons: dict[str, str] = {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        # A test that is expected to fail is reported as skipped when it does.
        if report.skipped and not hasattr(report, "wasxfail"):
            self._reasons[report.nodeid] = _reason(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if report.skipped:
            self._reasons[report.nodeid] = _reason(report)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        if self._reasons and session.exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        if self._reasons:
            terminalreporter.section("skipped in CI, which fails the run", red=True)
        for test, reason in sorted(self._reasons.items()):
            terminalreporter.write_line(f"{test}: {reason}")


def _reason(report: pytest.TestReport | pytest.CollectReport) -> str:
    """Why it was skipped, in the words of the test."""
    if isinstance(report.longrepr, tuple):
        return report.longrepr[2]
    return str(report.longrepr)
