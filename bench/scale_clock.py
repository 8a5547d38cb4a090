"""Measures wall time and processor time of works that take turns, of this process and the PostgreSQL server together.

Processor time tells what a work costs also on a machine that is busy with other work, where it waits for its turn.
"""

import gc
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

import psycopg

from tests.plugins.postgres import PostgresDatabase

T = TypeVar("T")
#: In a millisecond.
_NANOSECONDS = 1_000_000
_postmasters: set[int] = set()


@dataclass(frozen=True)
class Spent:
    """Milliseconds of a work: on the clock, and on processors."""

    wall: float
    cpu: float

    def divided(self, count: int) -> "Spent":
        """Return the share of one of several equal parts."""
        return Spent(self.wall / count, self.cpu / count)


def watch(database: PostgresDatabase) -> None:
    """Count the processor time of the server of a database, where it runs on this machine."""
    with psycopg.connect(database.administrator_url) as connection:
        backend = Path(f"/proc/{connection.info.backend_pid}/stat")
        if backend.exists():
            _postmasters.add(int(backend.read_text(encoding="utf-8").rpartition(")")[2].split()[1]))


def timed(work: Callable[[], object]) -> Spent:
    """Return what a work takes."""
    return timed_result(work)[0]


def timed_result(work: Callable[[], T]) -> tuple[Spent, T]:
    """Return what a work takes, and its result."""
    # A collection of the garbage that others left takes as long as a cold recall, and would always meet the same work.
    gc.collect()
    before, cpu, begun = _server_times(), time.process_time(), time.perf_counter()
    result = work()
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    # A backend that began in between has no time before; one that ended is not counted.
    server = sum(spent - before.get(pid, 0) for pid, spent in _server_times().items())
    return Spent(1000 * wall, 1000 * cpu + server / _NANOSECONDS), result


def typical(found: Sequence[Spent]) -> Spent:
    """Return the times that a quarter of the rounds stay below: other work on the machine only adds to the others."""
    place = len(found) // 4
    return Spent(sorted(one.wall for one in found)[place], sorted(one.cpu for one in found)[place])


def compared(rounds: int, works: Mapping[str, Callable[[], object]]) -> dict[str, Spent]:
    """Return the typical times of each work; they take turns, so that all meet the same noise."""
    times: dict[str, list[Spent]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            times[name].append(timed(work))
    return {name: typical(found) for name, found in times.items()}


def _server_times() -> dict[int, int]:
    """Return the nanoseconds of each backend that serves a client."""
    found: dict[int, int] = {}
    for postmaster in _postmasters:
        children = Path(f"/proc/{postmaster}/task/{postmaster}/children")
        for pid in children.read_text(encoding="ascii").split() if children.exists() else ():
            folder = Path("/proc") / pid
            try:
                if b"[local]" in (folder / "cmdline").read_bytes():
                    found[int(pid)] = int((folder / "schedstat").read_text(encoding="ascii").split()[0])
            except OSError:
                # It has ended.
                continue
    return found
