"""A measurement of the bar can fail: given something broken, its row is red."""

import logging
import os
import shutil
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import replace
from http.client import HTTPConnection
from pathlib import Path

import pytest
from _pytest.mark import ParameterSet

from bench.bar_addresses import addresses
from bench.bar_closed import closed_places
from bench.bar_damage import flipped_bits, old_library, smashed_pages, torn_lines, unsealed
from bench.bar_durability import power, state_files
from bench.bar_erasure import live_files, made_again, restored, without_keys
from bench.bar_hostile import fences, imports, origins, poison, queries
from bench.bar_http import browser_pages, limits_hold, without_credentials
from bench.bar_isolation import DOORS, clock_jumps, foreign_documents, full_recall, no_leaks
from bench.bar_paths import paths
from bench.bar_patterns import patterns
from bench.bar_row import Measured
from bench.bar_secrets import keys_at_rest, private_files, redaction, silent_logs
from recollectum.domain.access.owner import Owner
from recollectum.home.files import sync_folder
from recollectum.models.http.endpoint import Endpoint
from recollectum.storage.sqlite.recovery.salvage import SalvageCounts
from recollectum.transfer import jsonl
from recollectum.upkeep.backup.repair import RepairResult, repair
from recollectum.upkeep.home_admin import HomeAdmin
from tests.matrix.checks import Check
from tests.matrix.over_http_runner import ALL as OVER_HTTP
from tests.matrix.runner import ALL
from tests.matrix.world import canary

pytestmark = pytest.mark.process

_TWO_STEPS = """
import sys, time
from pathlib import Path
path = Path(sys.argv[1])
print("ready", flush=True)
while True:
    with path.open("wb", buffering=0) as file:
        file.write(b"00000001" + b"B" * 100_000)
        time.sleep(0.2)
        file.write(b"B" * 100_000)
"""


def _leave(*_: object) -> None:
    """An erasure that does nothing."""


def _tell() -> None:
    logging.getLogger("careless").debug("they said %s", canary("user:alice", "active"))


def _loosen(home: Path) -> None:
    next(home.rglob("*.db")).chmod(0o644)


def _write_outside(root: Path, name: str) -> None:
    (root.parent / "evil").write_text(name, errors="replace")


def _copy_behind_link(at: Path, to: Path) -> None:
    # As if whoever reads or writes went through the link; a folder that holds the link itself is left out.
    if to.is_dir() and to not in at.parents:
        shutil.copytree(to, at, dirs_exist_ok=True)
    elif to.is_file():
        at.unlink(missing_ok=True)
        shutil.copyfile(to, at)


def _following(url: str) -> object:
    with urllib.request.urlopen(urllib.request.Request(url, data=b"{}"), timeout=5) as answer:
        return answer.read()


def _believing(to: Endpoint, seconds: float) -> HTTPConnection:
    return HTTPConnection(to.host, to.port, timeout=seconds)


def _put(path: Path, data: bytes, *, sync: bool) -> None:
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    os.write(file, data)
    if sync:
        os.fsync(file)
    os.close(file)


def _in_place(path: Path, data: bytes) -> None:
    _put(path, data, sync=True)


def _unsynced(path: Path, data: bytes) -> None:
    _put(path.with_name("new"), data, sync=False)
    path.with_name("new").replace(path)
    sync_folder(path.parent)


def _unsynced_name(path: Path, data: bytes) -> None:
    _put(path.with_name("new"), data, sync=True)
    path.with_name("new").replace(path)


def _slow_repair(admin: HomeAdmin, owner: Owner) -> RepairResult:
    done = repair(admin, owner)
    return replace(done, tables=(SalvageCounts(table="memories", saved=1, lost=0),))


def _quadratic(_: str, text: str) -> int:
    return sum(text[at:].count("!") for at in range(0, len(text), 16))


def _stumbling(data: bytes) -> str:
    return data.decode()


def _write_down(folder: Path, secret: str) -> None:
    (folder / "notes").write_text(secret)


def _finding(_: Path) -> Iterator[str]:
    yield "something changed"


_BROKEN_CHECKS: dict[str, Check] = dict.fromkeys(ALL, _finding)

_BROKEN_DOORS: dict[str, Check] = dict.fromkeys(OVER_HTTP, _finding)

RED: dict[str, Callable[[], Measured]] = {
    "2: a commit that waits for no sync": lambda: power(long=False, synchronous="normal"),
    "4: a reader that gives up at the first bad line": lambda: torn_lines(
        long=False, read=lambda lines: jsonl.read(lines).messages if not jsonl.read(lines).damage else ()
    ),
    "5: a file that is written in two steps": lambda: state_files(long=False, program=_TWO_STEPS),
    "5: a file that is written in its place": lambda: state_files(long=False, write=_in_place),
    "5: a rename before the content is on the medium": lambda: state_files(long=False, write=_unsynced),
    "5: a rename that is not on the medium": lambda: state_files(long=False, write=_unsynced_name),
    "8: a place that is not closed": lambda: closed_places(long=False, mode=0o700),
    "9: a clock that is believed": lambda: clock_jumps(long=False, checks=_BROKEN_CHECKS),
    "10: a vault without a cipher": lambda: flipped_bits(long=False, encryption="off"),
    "10: a plain vault without seals": lambda: flipped_bits(long=False, spoil=unsealed),
    "11: a repair that takes its time": lambda: smashed_pages(long=False, mend=_slow_repair),
    "13: an erasure that does nothing": lambda: restored(long=False, erase=_leave),
    "15: any version will do": lambda: old_library(long=False, check=_leave),
    "16: an erasure that does nothing": lambda: live_files(long=False, erase=_leave),
    "17: an erasure that does nothing": lambda: made_again(long=False, erase=_leave),
    "19: a vault without a cipher": lambda: without_keys(long=False, encryption="off"),
    **{
        f"21: a mistake that nobody notices, by {place}": lambda place=place: no_leaks(
            long=False, doors={place: replace(DOORS[place], checks={}, mutants={"no mistake at all": ()})}
        )
        for place in DOORS
    },
    **{
        f"21: a leak by {place}": lambda place=place: no_leaks(
            long=False, doors={place: replace(DOORS[place], checks={"it": _finding}, mutants={}, short=())}
        )
        for place in DOORS
    },
    "23: results that change": lambda: foreign_documents(long=False, checks=_BROKEN_CHECKS),
    "24: hits that are missing": lambda: full_recall(long=False, own=8),
    "26: a route that answers anybody": lambda: without_credentials(long=False, checks=_BROKEN_DOORS),
    "27: a key that is written down": lambda: keys_at_rest(long=False, plant=_write_down),
    "28: a foreign name that is let in": lambda: browser_pages(long=False, hosts="evil.example"),
    "29: a name that is followed": lambda: paths(long=False, write=_write_outside),
    "29: a link that is followed": lambda: paths(long=False, link=_copy_behind_link),
    "30: texts in the open": lambda: addresses(long=False, plain_http=True),
    "30: a redirect that is followed": lambda: addresses(long=False, post=_following),
    "30: a name that is believed": lambda: addresses(long=False, connect=_believing),
    "31: a reader that stumbles": lambda: imports(long=False, read=_stumbling),
    "32: time that grows with the square": lambda: patterns(long=False, match=_quadratic),
    "33: a query that must be ASCII": lambda: queries(long=False, ask=lambda _, text: text.encode("ascii")),
    "34: as often as one likes": lambda: limits_hold(long=False, per_minute=0),
    "34: as much as one likes": lambda: limits_hold(long=False, most_kb=1024),
    "35: no fence at all": lambda: fences(long=False, render=lambda found: "\n".join(one.text for one in found)),
    "36: nobody wrote it": lambda: origins(long=False, change=lambda hit: replace(hit, author="")),
    "37: orders that count as the owner's": lambda: poison(long=False, role="user"),
    "38: nothing is hidden": lambda: redaction(long=False, hide=lambda text: text),
    "39: a log that repeats what was said": lambda: silent_logs(long=False, also=_tell),
    "40: a file that others may read": lambda: private_files(long=False, loosen=_loosen),
}


def _param(broken: str) -> ParameterSet:
    over_http = broken.startswith(("21:", "26:", "28:", "30:", "34:"))
    return pytest.param(broken, marks=[pytest.mark.loopback] if over_http else [])


@pytest.mark.parametrize("broken", [_param(broken) for broken in RED])
def test_what_is_broken_turns_its_row_red(broken: str) -> None:
    result = RED[broken]()
    print(f"{broken}: {result.said}")
    assert not result.met, result.said
