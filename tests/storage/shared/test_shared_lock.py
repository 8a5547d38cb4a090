"""A lock that holds across hosts: one holder at a time, taken over after a host died, and released at once."""

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.domain.errors import LockHeld
from recollectum.home.locks import Lock
from recollectum.storage.shared import shared_lock
from recollectum.storage.shared.shared_lock import SharedLock
from recollectum.storage.tables.catalog import leases
from tests.matrix.homes import Turning, open_home

SECOND = timedelta(seconds=1)


@pytest.fixture
def lock(tmp_path: Path) -> "Callable[[str, Recollectum], SharedLock]":
    """A lock of the same work on one of several hosts, each with its own file."""

    def make(host: str, home: Recollectum) -> SharedLock:
        return SharedLock(Lock(tmp_path / f"{host}.lock"), "purge-vlt_1", home.admin.catalog, home.admin.clock)

    return make


def test_one_host_at_a_time_holds_it_and_a_dead_one_until_its_lease_ends(
    tmp_path: Path, lock: "Callable[[str, Recollectum], SharedLock]", monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_home(tmp_path, Turning()) as home:
        one, two = lock("one", home), lock("two", home)
        with one:
            assert not two.wait(timedelta())
            monkeypatch.setattr(shared_lock, "TIMEOUT", timedelta())
            with pytest.raises(LockHeld, match="another host does the same work"):
                two.acquire()
            # The lock of its own host is free again after each try.
            with Lock(tmp_path / "two.lock", timeout=timedelta()):
                pass
        assert two.wait(timedelta())
        two.release()
        two.release()

        def killed(ago: timedelta) -> None:
            home.admin.catalog.claim(
                lambda tx: leases.take(
                    tx, "purge-vlt_1", "of a host that died", (now := tx.time(home.admin.clock())), now - ago
                )
            )

        killed(-SECOND * 3600)
        assert not one.wait(timedelta())
        home.admin.catalog.claim(lambda tx: leases.release(tx, "purge-vlt_1", "of a host that died"))
        killed(SECOND)
        assert one.wait(timedelta())
        assert not home.admin.catalog.claim(
            lambda tx: leases.renew(tx, "purge-vlt_1", "of a host that died", tx.time(home.admin.clock()))
        )
        one.release()
