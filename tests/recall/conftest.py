"""A folder in memory, and a clock that the test turns."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.matrix.homes import Turning, quick_folder


@pytest.fixture
def place() -> Iterator[Path]:
    """Quick, since durability is proven elsewhere."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def clock() -> Turning:
    return Turning()
