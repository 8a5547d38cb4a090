"""Purges, consolidates or upgrades on PostgreSQL, and ends itself without warning before the n-th step.

python -m tests.storage.postgres.faults.dying_program purge HOME URL session|user N
python -m tests.storage.postgres.faults.dying_program consolidate HOME URL N
python -m tests.storage.postgres.faults.dying_program upgrade URL N
"""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import psycopg

from recollectum import Recollectum
from recollectum.domain.ids import system_clock
from recollectum.storage.postgres.database import PostgresDatabase
from recollectum.storage.postgres.operations.schema_upgrade import upgrade_schema
from recollectum.vault.purge import execution
from recollectum.vault.purge.request import PurgeRequest
from tests.crashes.consolidating_program import LATER, consolidate

P = ParamSpec("P")
R = TypeVar("R")
OWNER = "user:ann"


def main(what: str, *arguments: str) -> None:
    """Do one of the three."""
    if what == "purge":
        _purge(*arguments)
    elif what == "consolidate":
        _consolidate(*arguments)
    else:
        _upgrade(*arguments)


def _purge(place: str, url: str, kind: str, step: str) -> None:
    # Small, so that there are many places to die at.
    execution._BATCH = 3  # pyright: ignore[reportPrivateUsage]
    with Recollectum(place, settings={"storage.url": url}) as home:
        vault = home.vault(OWNER)
        request = PurgeRequest.user() if kind == "user" else PurgeRequest.sessions(vault.sessions.list()[0].id)
        token = vault.privacy.purge.preview(request).token
        _die_in(PostgresDatabase, "write", int(step))
        vault.privacy.purge.run(token)


def _consolidate(place: str, url: str, step: str) -> None:
    consolidate(Path(place), LATER, lambda: _die_in(PostgresDatabase, "write", int(step)), {"storage.url": url})


def _upgrade(url: str, step: str) -> None:
    _die_in(psycopg.Connection, "execute", int(step))
    upgrade_schema(url, system_clock, dry_run=False)


def _die_in(owner: type[Any], name: str, step: int) -> None:
    """End this process before the n-th call of a method."""
    left = [step]

    def dying(method: Callable[P, R]) -> Callable[P, R]:
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return method(*args, **kwargs)

        return call

    setattr(owner, name, dying(getattr(owner, name)))


if __name__ == "__main__":
    main(*sys.argv[1:])
