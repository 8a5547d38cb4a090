"""A program that changes the catalog of a home, again and again, or is killed at every step of one change."""

import os
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any

from recollectum.home.paths import Home
from recollectum.storage.catalog_mark import CatalogMarkFile
from recollectum.storage.tables.catalog import catalog_changes
from tests.matrix.homes import Turning, open_home


class _Counter:
    """Counts calls of Python and C functions alike; the fatal one is the last thing that happens."""

    def __init__(self, fatal: int) -> None:
        self.calls = 0
        self._fatal = fatal

    def __call__(self, frame: FrameType, event: str, arg: Any) -> None:  # noqa: ANN401  (its form is given)
        if event in ("call", "c_call"):
            self.calls += 1
            if self.calls == self._fatal:
                os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    """`die FOLDER KILLS` prints for each kill by how many changes the mark lags; or `work FOLDER NAME TIMES`."""
    task, folder, argument, *rest = sys.argv[1:]
    place = Path(folder)
    if task == "work":
        for number in range(int(rest[0])):
            # Each time the home is opened, its catalog is compared with the mark.
            with open_home(place, Turning()) as home:
                home.people.add(f"user:{argument}{number}")
                home.keys.revoke(home.keys.add(f"user:{argument}{number}").key.id)
        return
    # The first time also imports what is imported late.
    _revoke(place, 0)
    calls = _revoke(place, 0)
    for number in range(1, int(argument) + 1):
        # Forks, because to start a program takes longer than all of this.
        child = os.fork()
        if not child:
            _revoke(place, calls * number // (int(argument) + 1))
            os._exit(0)
        assert os.WTERMSIG(os.waitpid(child, 0)[1]) == signal.SIGKILL
        print(_lag(place))


def _revoke(place: Path, fatal: int) -> int:
    """Revoke a key, unless killed before; return the number of calls that it took."""
    with open_home(place, Turning()) as home:
        key = home.keys.add("user:ann").key
        counter = _Counter(fatal)
        sys.setprofile(counter)
        home.keys.revoke(key.id)
        sys.setprofile(None)
        return counter.calls


def _lag(place: Path) -> int:
    seen = CatalogMarkFile(Home(place / "home")).read()
    with open_home(place, Turning()) as home:
        return home.admin.catalog.read(catalog_changes.find) - (seen.changes if seen else 0)


if __name__ == "__main__":
    main()
