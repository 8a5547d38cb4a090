"""Real daemons for tests: started, waited for and ended as processes of their own."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from recollectum import Recollectum
from recollectum.domain.ids import Clock, system_clock

T = TypeVar("T")
#: Nothing here takes nearly as long; it only ends a test that would never end.
PATIENCE_SECONDS = 60.0
#: As short as they can be.
QUICK = {
    "RECOLLECTUM_SERVER__DRAIN_SECONDS": "0",
    "RECOLLECTUM_STORAGE__RESERVE_MIB": "0",
    "RECOLLECTUM_CONSOLIDATION__LEASE_SECONDS": "1",
    "RECOLLECTUM_DAEMON__CONSOLIDATION_SECONDS": "0.2",
    "RECOLLECTUM_DAEMON__LEASE_SECONDS": "1",
    "RECOLLECTUM_DAEMON__INDEXING_SECONDS": "0.2",
    "RECOLLECTUM_DAEMON__RETENTION_MINUTES": "0.01",
    "RECOLLECTUM_DAEMON__WATCH_SECONDS": "0.1",
    "RECOLLECTUM_NOTES__DEBOUNCE_SECONDS": "0.1",
    "RECOLLECTUM_NOTES__ON_SEARCH": "off",
    "RECOLLECTUM_TRANSCRIPTS__DEBOUNCE_SECONDS": "0.1",
    "RECOLLECTUM_TRANSCRIPTS__ON_SEARCH": "off",
}


class Running:
    """A daemon that runs."""

    def __init__(self, process: "subprocess.Popen[str]", told: Mapping[str, Any]) -> None:
        self.process = process
        self.told = told

    @property
    def url(self) -> str:
        """Where it listens."""
        return str(self.told["url"])

    def wait(self) -> int:
        """Its exit code, once it has ended."""
        return self.process.wait(PATIENCE_SECONDS)


def command(*arguments: str) -> list[str]:
    """The command line of this very interpreter."""
    return [sys.executable, "-m", "recollectum.doors.cli.main", *arguments]


def called(*arguments: str, environ: Mapping[str, str] | None = None) -> "subprocess.CompletedProcess[str]":
    """Run one command to its end."""
    return subprocess.run(
        command(*arguments),
        capture_output=True,
        text=True,
        timeout=PATIENCE_SECONDS,
        check=False,
        env={**os.environ, **QUICK, **(environ or {})},
    )


@contextmanager
def daemon(*arguments: str, environ: Mapping[str, str] | None = None) -> Generator[Running]:
    """A daemon for the home that the environment names, on a port of its own, ended with the block."""
    line = command("serve", "--json", *(arguments or ("--port", "0")))
    with subprocess.Popen(
        line, stdout=subprocess.PIPE, text=True, env={**os.environ, **QUICK, **(environ or {})}
    ) as process:
        try:
            assert process.stdout is not None
            said = process.stdout.readline()
            assert said, "the daemon ended without a word"
            yield Running(process, json.loads(said))
        finally:
            process.kill()


def until(look: Callable[[], T]) -> T:
    """What `look` finds, as soon as it is true."""
    give_up = time.monotonic() + PATIENCE_SECONDS
    while not (found := look()):
        assert time.monotonic() < give_up, "it did not happen"
        time.sleep(0.05)
    return found


def home(*, clock: Clock = system_clock, settings: Mapping[str, object] | None = None) -> Recollectum:
    """The home that the environment names, with files as a test wants them."""
    return Recollectum(settings={"storage.reserve_mib": 0, **(settings or {})}, clock=clock)


def two_hours_ago() -> datetime:
    """A clock that is late."""
    return datetime.now(UTC) - timedelta(hours=2)


def home_folder() -> Path:
    """The home that the environment names."""
    return Path(os.environ["RECOLLECTUM_HOME"])
