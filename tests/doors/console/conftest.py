"""One server with a made-up person for a whole file of tests, and an empty one for each test that wants it."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from tests.doors.console.browsers import browser
from tests.doors.console.samples import fill
from tests.doors.console.servers import Place, served
from tests.matrix.homes import Turning


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    """A server with half a year of memories, which tests only read."""
    clock = Turning()
    with served(tmp_path_factory.mktemp("filled"), clock) as place:
        fill(place.home, clock)
        yield place


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    """A server with two people who have nothing yet."""
    with served(tmp_path, Turning()) as made:
        made.home.people.add("user:ada")
        made.home.people.add("user:bob")
        yield made


@pytest.fixture(scope="module")
def chromium() -> Iterator[Browser]:
    """A real browser."""
    with browser() as running:
        yield running
