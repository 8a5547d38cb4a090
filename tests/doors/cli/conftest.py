"""A home of ada's, unencrypted, because most of these tests are about words and not about keys."""

import pytest

from tests.doors.cli.calls import ok


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> None:
    """A fresh home with a vault for ada, who is also the default user."""
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
    ok("init")
