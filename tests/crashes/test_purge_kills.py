"""A purge that is killed anywhere has not begun, or goes on by itself at the next open and completes.

Run as a program it purges, and ends itself before the n-th time it writes: `HOME KIND N`.
"""

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import pytest

from recollectum import Recollectum
from recollectum.storage.sqlite.database import SqliteDatabase
from recollectum.vault.purge import execution
from recollectum.vault.purge.request import PurgeRequest, PurgeState
from tests.crashes.programs import run, start

pytestmark = pytest.mark.process

P = ParamSpec("P")
R = TypeVar("R")
_SECRET = "wqzkvbtrnx"
_KEPT = "mnbvcxzqwr"
_SETTINGS = {"encryption": "off", "storage.reserve_mib": 0}
_OWNER = "user:ann"


def main() -> None:
    """Purge, and end without warning before the n-th write."""
    place, kind, step = sys.argv[1:]
    left = [int(step)]

    def dying(method: Callable[P, R]) -> Callable[P, R]:
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
            left[0] -= 1
            return method(*args, **kwargs)

        return call

    # Small, so that there are many places to die at.
    execution._BATCH = 3  # pyright: ignore[reportPrivateUsage]
    with Recollectum(place, settings=_SETTINGS) as home:
        vault = home.vault(_OWNER)
        request = PurgeRequest.user() if kind == "user" else PurgeRequest.sessions(vault.sessions.list()[0].id)
        token = vault.privacy.purge.preview(request).token
        for name in ("write", "on_connection"):
            setattr(SqliteDatabase, name, dying(getattr(SqliteDatabase, name)))
        vault.privacy.purge.run(token)


def _make(place: Path) -> None:
    with Recollectum(place, settings=_SETTINGS) as home:
        vault = home.vault(_OWNER)
        for channel, word in (("work", _KEPT), ("home", _SECRET)):
            chat = vault.sessions.open(channel=channel, agent=channel)
            for number in range(5):
                chat.add("user", f"turn {number} says {word}{number}")


def _hits(place: Path, *words: str) -> set[str]:
    return {line.partition(" ")[0] for line in run("tests.faults.grepping_program", str(place), *words)}


@pytest.mark.feature("P9")
@pytest.mark.parametrize("kind", ["session", "user"])
def test_a_kill_before_any_write_leaves_all_of_it_or_none_of_it(tmp_path: Path, kind: str) -> None:
    made = tmp_path / "made"
    _make(made)
    outcomes: list[bool] = []
    for step in range(40):
        place = tmp_path / f"{kind}{step}"
        shutil.copytree(made, place)
        child = start("tests.crashes.test_purge_kills", str(place), kind, str(step))
        code = child.wait()
        for stream in (child.stdin, child.stdout):
            assert stream is not None
            stream.close()
        outcomes.append(_is_gone(place, kind))
        if code == 0:
            break
        assert code == -signal.SIGKILL
    else:
        pytest.fail("the purge did not come to its end")
    # Before the first note nothing has happened; from it on, there is no way back.
    assert outcomes == sorted(outcomes)
    assert outcomes[-1]
    assert len(outcomes) > 5


def _is_gone(place: Path, kind: str) -> bool:
    """Open the home, which goes on with a purge; whether the erased is gone, and then all of it."""
    with Recollectum(place, settings=_SETTINGS) as home:
        if kind == "user" and not home.list_owners():
            receipts = home.receipts.list()
            assert receipts[-1].state is PurgeState.DONE, receipts
            assert receipts[-1].samples > 0
            assert _hits(place, _SECRET, _KEPT, _OWNER) == set()
            assert home.people.list() == []
            return True
        vault = home.vault(_OWNER)
        held = vault.admin.totals().messages
        assert vault.admin.index.verify().sound
        assert held in (5, 10)
        assert _hits(place, _SECRET, _KEPT) == ({_KEPT} if held == 5 else {_SECRET, _KEPT})
        if held == 5:
            receipt = vault.privacy.purge.list_receipts()[-1]
            assert receipt.state is PurgeState.DONE, receipt
            assert receipt.samples > 0
        return held == 5


if __name__ == "__main__":
    main()
