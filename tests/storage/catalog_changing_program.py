"""A program that changes the catalog of a home, again and again, or is killed at every step of one change."""

import os
import signal
import sys
from pathlib import Path

from recollectum.home.paths import Home
from recollectum.storage.catalog_mark import CatalogMarkFile
from recollectum.storage.tables.catalog import catalog_changes
from tests.matrix.homes import Turning, open_home
from tests.storage.keystore_child import FatalCounter


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
    # The first times also import what is imported late, and compile what is used often.
    for _ in range(6):
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
        counter = FatalCounter(fatal)
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
