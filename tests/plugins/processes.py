"""Holds the quick run to its markers: its tests start no program, and files without any of them are not imported."""

import re
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

_STARTS = frozenset({"subprocess.Popen", "os.posix_spawn", "os.fork", "os.forkpty", "os.exec", "os.system"})
#: A browser, a server and an agent are programs too.
_LEAVE = ("process", "browser", "network", "slow")
#: The markers of a whole file, `loopback` as the name under which a test of the network says so.
_WHOLE_FILE = re.compile(
    r"^pytestmark = (?:\[[^]]*)?pytest\.mark\.(process|browser|network|slow|loopback)\b", re.MULTILINE
)


class _Running:
    """The test that runs now, and whether it may start a program."""

    item: pytest.Item | None = None


def pytest_configure(config: pytest.Config) -> None:
    """Listen from the start, in a run that leaves programs out; a hook of the interpreter cannot be taken out again."""
    if _is_left_out(config, "process"):
        sys.addaudithook(_check)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out a file whose marker the run leaves out: half of the files, and half of the time of collecting."""
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    found = _WHOLE_FILE.search(collection_path.read_text(encoding="utf-8"))
    return True if found and _is_left_out(config, found[1].replace("loopback", "network")) else None


def _is_left_out(config: pytest.Config, marker: str) -> bool:
    return f"not {marker}" in str(config.getoption("markexpr")).split(" and ")


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
