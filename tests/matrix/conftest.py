"""A folder for homes that is quick, since durability is proven elsewhere."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.matrix.homes import quick_folder


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder
