"""A home of ada's for hooks, and no attendant that outlives its test."""

from collections.abc import Iterator

import pytest

from tests.doors.cli.calls import ok
from tests.doors.hook.calls import no_attendant_left


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A fresh home with a vault for ada, who is also the default user, and one memory."""
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_USER", "ada")
    monkeypatch.setenv("RECOLLECTUM_STORAGE__RESERVE_MIB", "0")
    ok("init")
    ok("remember", "the harbour dinner is on the twelfth of May")
    with no_attendant_left():
        yield
