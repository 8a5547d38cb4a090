"""Nothing leaks over HTTP, MCP or the console: every owner, caller, state, route and tool, against the rules."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.matrix.homes import copy_home, quick_folder
from tests.matrix.over_http_runner import ALL
from tests.matrix.over_http_world import furnish

pytestmark = [pytest.mark.loopback, pytest.mark.slow]


@pytest.fixture(scope="module")
def world() -> Iterator[Path]:
    with quick_folder() as folder:
        furnish(folder)
        yield folder


@pytest.mark.feature("P7")
@pytest.mark.feature("A12")
@pytest.mark.parametrize("name", ALL)
def test_nothing_leaks_at_the_doors(world: Path, place: Path, name: str) -> None:
    findings = list(ALL[name](copy_home(world, place / "world")))
    assert not findings, "\n".join(findings)
