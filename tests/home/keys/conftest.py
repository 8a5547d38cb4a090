"""Puts a keyring in place for one test."""

from collections.abc import Callable, Iterator

import keyring
import pytest
from keyring.backend import KeyringBackend


@pytest.fixture
def use_keyring() -> Iterator[Callable[[KeyringBackend], None]]:
    """Make a backend the configured one until the test is over."""
    before = keyring.get_keyring()
    yield keyring.set_keyring
    keyring.set_keyring(before)
