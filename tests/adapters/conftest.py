"""A plain home and the vault of one person, for the tests of adapters."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum, Vault


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Recollectum]:
    with Recollectum(tmp_path / "home", settings={"encryption": "off"}) as home:
        yield home


@pytest.fixture
def vault(home: Recollectum) -> Vault:
    return home.vault("user:ann")
