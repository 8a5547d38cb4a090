"""One server for the tests of a module."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.http.served import Served, serving


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Served]:
    """A server with alice's key in its hand."""
    with serving(tmp_path / "home") as running:
        yield running
