"""Looks at a vault of a million memories: every list, page and lookup at every door, its CPU time and SQLite's work.

With an argument the vault has so many memories: python -m bench million 50000.
"""

import os
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from bench.million_doors import DoorLook, door_looks, open_doors
from bench.million_looks import Look, looks, whole
from bench.million_vault import OWNER, fill
from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum

#: No list, page or lookup takes longer.
_MOST_S = 2.0
#: FTS5 keeps its statements with these words, and their counters are never reset.
_KEPT = ("search_idx", "data_version")


@dataclass(frozen=True, slots=True)
class Looked:
    """One look, its CPU time and the steps of SQLite's machine."""

    look: Look | DoorLook
    seconds: float
    steps: int


def main(arguments: Sequence[str] = ()) -> None:
    """Make the vault, look at it in every way, and print a table."""
    count = int(arguments[0]) if arguments else sized(1_000_000, 2_000)
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        os.environ["RECOLLECTUM_EMBEDDING__PROVIDER"] = "none"
        begun = time.process_time()
        home = Path(folder) / "home"
        fill(home, count)
        size = sum(path.stat().st_size for path in home.rglob("*") if path.is_file())
        print(f"{count:,} memories, {size / 2**20:,.0f} MiB, made in {time.process_time() - begun:.0f} s of CPU\n")
        print("| call | CPU ms | steps of SQLite |\n|---|--:|--:|")
        found = [*look_at(home, count), *look_through_doors(home, count)]
    for one in found:
        print(f"| `{one.look}` | {one.seconds * 1000:,.1f} | {one.steps:,} |")
    answers = {str(one) for one in whole(count)} | {"doctor"}
    slow = [one for one in found if one.seconds > _MOST_S and str(one.look) not in answers]
    print(f"\nover {_MOST_S:.0f} s of CPU: {', '.join(str(one.look) for one in slow) or 'none'}")


def look_at(home: Path, count: int) -> list[Looked]:
    """Take every look at a vault of so many memories; the first of each kind also loads its code."""
    with counted() as steps, Recollectum(home) as r:
        vault = r.vault(OWNER)
        return [_looked(look, lambda one=look: one.run(vault), steps) for look in looks(count)]


def look_through_doors(home: Path, count: int) -> list[Looked]:
    """Ask every door for its lists and pages; of two times, the second, because the first loads code."""
    with counted() as steps, open_doors(home) as doors:
        twice = [
            [_looked(look, lambda one=look: one.run(doors), steps) for look in door_looks(count)] for _ in range(2)
        ]
        return twice[1]


def _looked(look: Look | DoorLook, run: Callable[[], object], steps: "StepCounter") -> Looked:
    before, begun = steps.total, time.process_time()
    run()
    return Looked(look, time.process_time() - begun, steps.total - before)


@contextmanager
def counted() -> "Generator[StepCounter]":
    """Count the steps of every connection that is opened from here on."""
    steps = StepCounter()
    apsw.connection_hooks.append(steps.watch)
    try:
        yield steps
    finally:
        apsw.connection_hooks.remove(steps.watch)


class StepCounter:
    """Counts the steps of SQLite's machine in all statements."""

    def __init__(self) -> None:
        self.total = 0

    def watch(self, connection: apsw.Connection) -> None:
        """Count the statements of a connection."""
        connection.trace_v2(apsw.SQLITE_TRACE_PROFILE, self._count)  # pyright: ignore[reportUnknownMemberType]

    def _count(self, event: dict[str, Any]) -> None:
        if not any(one in event["sql"] for one in _KEPT):
            self.total += event["stmt_status"]["SQLITE_STMTSTATUS_VM_STEP"]


if __name__ == "__main__":
    main(sys.argv[1:])
