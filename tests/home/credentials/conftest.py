"""A home with keys of its own, and the keyrings that the tests of the master key use."""

import os
from pathlib import Path

import pytest

from recollectum.home.credentials.store import Credentials
from recollectum.home.paths import Home, prepare
from recollectum.storage.keystore import KeyStore
from tests.home.credentials.stores import open_store
from tests.home.keys.conftest import use_keyring

__all__ = ["use_keyring"]


@pytest.fixture
def home(tmp_path: Path) -> Home:
    """A prepared home in this test's own folder."""
    made = Home(tmp_path / "home")
    prepare(made)
    return made


@pytest.fixture
def keys(home: Home) -> KeyStore:
    """Its key store, held by a key file, since tests have no keyring."""
    return KeyStore.open(home, encryption="auto", environ=os.environ)


@pytest.fixture
def store(home: Home) -> Credentials:
    """Its credentials."""
    return open_store(home)
