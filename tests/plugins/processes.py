"""Holds the quick run to its markers: a test that is not marked `process` may not start a program in it."""

import sys
from collections.abc import Generator

import pytest

_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system"})
#: A browser, a server and an agent are programs too.
_LEAVE = ("process", "browser", "network", "slow")


class _Running:
    """The test that runs now, and whether it may start a program."""

    item: pytest.Item | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Listen from the start, in a run that leaves programs out; a hook of the interpreter cannot be taken out again."""
    if "not process" in str(config.getoption("markexpr")):
        sys.addaudithook(_check)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What talks over the network, to a browser or to this machine, is left out of the quick run by one name."""
    for item in items:
        if item.get_closest_marker("loopback"):
            item.add_marker("network")


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Generator[None, object, object]:
    """Remember which test runs."""
    _Running.item = item
    try:
        return (yield)
    finally:
        _Running.item = None


def _check(event: str, _: object) -> None:
    item = _Running.item
    if event in _STARTS and item is not None and not any(item.get_closest_marker(name) for name in _LEAVE):
        raise RuntimeError(f"{item.nodeid} starts a program; mark it with pytest.mark.process")
