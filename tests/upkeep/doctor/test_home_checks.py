"""Locks as the doctor sees them: a service holds its lock for hours, anything else looks hung."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

from recollectum.home.daemon import daemon_lock
from recollectum.home.locks import Lock
from recollectum.home.paths import Home
from recollectum.upkeep.doctor.home_checks import Severity, locks


def test_a_daemon_that_runs_is_no_warning_and_another_lock_is(tmp_path: Path) -> None:
    home = Home(tmp_path / "home")
    home.locks.mkdir(parents=True)
    later = datetime.now(UTC) + timedelta(hours=3)
    with daemon_lock(home):
        assert [one.severity for one in locks(home, lambda: later)] == [Severity.FINE]
        with Lock(home.locks / "restore.lock"):
            (_, found) = locks(home, lambda: later)
            assert found.words.startswith("restore.lock has been held by")
