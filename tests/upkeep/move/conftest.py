"""Moves of a test wait less long for programs that have a file open: most of these do nothing, on purpose."""

from datetime import timedelta

import pytest

from recollectum.storage.places import vault_move
from recollectum.upkeep import move

_PATIENCE = timedelta(seconds=1)


@pytest.fixture(autouse=True)
def _little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (move, vault_move):
        monkeypatch.setattr(module, "PATIENCE", _PATIENCE)
