"""A home, its clock and alice's vault, for the tests of the services."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.vault.vault import Vault
from tests.matrix.homes import START, Turning, lay_home, open_home, quick_folder


@pytest.fixture
def place() -> Iterator[Path]:
    """Quick, since durability is proven elsewhere."""
    with quick_folder() as folder:
        yield folder


@pytest.fixture
def clock() -> Turning:
    return Turning()


@pytest.fixture
def home(place: Path, clock: Turning, request: pytest.FixtureRequest) -> Iterator[Recollectum]:
    if "vault" in request.fixturenames and clock() == START:
        lay_home(place)
    with open_home(place, clock) as opened:
        yield opened


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:alice")
