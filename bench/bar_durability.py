"""Measures durability of acknowledged writes: kills, power cuts, torn lines, half files, many writers, full disks."""

import json
import os
import signal
import subprocess
import sys
import time
from functools import cache
from pathlib import Path

from bench.bar_row import Measured, own_place
from recollectum.home.files import write_atomic
from tests.crashes.contending import count_together
from tests.crashes.killing import Toll, kill_writers
from tests.crashes.power import Verdict, cut_power, record
from tests.crashes.rewriting import Write, cut_rewrites
from tests.home.small_disk import run_on_small_disk
from tests.home.test_files import REWRITE

_SEED = 20261115
_KEY = bytes(range(32))
_ROOT = Path(__file__).parents[1]
#: The content of one rewritten state file: eight digits and one letter many times.
_DIGITS, _LETTERS = 8, 200_000


@cache
def _killed(*, long: bool) -> Toll:
    with own_place() as folder:
        return kill_writers(folder, kills=500 if long else 8, seed=_SEED, longest=0.35 if long else 0.15)


@cache
def _cut(*, long: bool, synchronous: str) -> Verdict:
    with own_place() as folder:
        steps, points = (240, 900) if long else (40, 25)
        recording = record(folder, steps=steps, seed=_SEED, key=_KEY, synchronous=synchronous)
        return cut_power(recording, folder, points=points, seed=_SEED, key=_KEY)


def kills(*, long: bool) -> Measured:
    """Kill writers; count acknowledged writes that are lost."""
    toll = _killed(long=long)
    # Kills that all came before the first answer would show nothing.
    enough = toll.acknowledged >= (10_000 if long else 1)
    return Measured(f"{len(toll.lost)} lost of {toll.acknowledged}, {toll.kills} kills", not toll.lost and enough)


def power(*, long: bool, synchronous: str = "full") -> Measured:
    """Cut the power at many moments in six ways each; count what is lost or unreadable."""
    seen = _cut(long=long, synchronous=synchronous)
    first = [f" (first: {one})" for one in (*seen.lost, *seen.corrupt)][:1]
    said = f"{len(seen.lost)} lost, {len(seen.corrupt)} corrupt of {seen.states} states" + "".join(first)
    return Measured(said, not seen.lost and not seen.corrupt and seen.acknowledged > 0)


def whole_changes(*, long: bool, synchronous: str = "full") -> Measured:
    """Count rows, words, versions and events that disagree after the same kills and cuts."""
    toll, seen = _killed(long=long), _cut(long=long, synchronous=synchronous)
    half = len(toll.half) + len(seen.half) + len(seen.corrupt)
    return Measured(f"{half} half changes after {toll.kills} kills and {seen.states} cuts", half == 0)


def state_files(*, long: bool, program: str = REWRITE, write: Write = write_atomic) -> Measured:
    """Kill a program that rewrites a state file without end, and cut its power."""
    half, times = 0, 200 if long else 8
    seen = cut_rewrites(write, rewrites=60 if long else 24, points=400 if long else 140, seed=_SEED)
    with own_place() as folder:
        for number in range(times):
            half += not _is_whole(_rewritten(folder / "state", program, 0.002 * (number % 20)))
    said = f"{half} of {times} kills left a half file; after a power cut {seen.half} half, {seen.lost} lost"
    return Measured(f"{said} of {seen.states}", half == seen.half == seen.lost == 0 and seen.states >= 720)


def _rewritten(path: Path, program: str, seconds: float) -> bytes:
    with subprocess.Popen([sys.executable, "-c", program, str(path)], stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        writer.stdout.readline()
        while not path.exists():
            time.sleep(0.001)
        time.sleep(seconds)
        writer.send_signal(signal.SIGKILL)
    return path.read_bytes()


def _is_whole(data: bytes) -> bool:
    digits = data[:_DIGITS]
    return digits.isdigit() and data[_DIGITS:] == bytes([65 + int(digits) % 26]) * _LETTERS


def counted(*, long: bool) -> Measured:
    """Run four processes that each read a counter and write it back."""
    times = 400 if long else 40
    with own_place() as folder:
        count = count_together(folder / "home", processes=4, times=times)
    missing = 4 * times - count.final
    late = count.within(0.99) * 1000
    heard = f"{count.busy} told of a lock, {count.conflicts} tried again"
    said = f"{missing} lost of {4 * times}, {heard}, p99 {late:.0f} ms (printed only)"
    return Measured(said, missing == 0 and count.busy == 0)


def full_disk(*, long: bool) -> Measured:
    """Fill a disk again and again, and delete on it once it is full."""
    tasks = ("forget", "sweep", "delete_session") if long else ("sweep",)
    with own_place() as folder:
        os.environ["PYTHONPATH"] = os.pathsep.join([str(_ROOT), os.environ["PYTHONPATH"]])
        narrow = _on_full_disk(folder, "narrow")
        deleted = [_on_full_disk(folder, task) for task in tasks]
    lost = sum(narrow[name] != [] for name in ("lost", "unexplained", "disagreements"))
    done = sum(one["deleted"] is True and one["sound"] is True and one["kept"] is True for one in deleted)
    said = f"{lost} kinds of loss, {done} of {len(tasks)} deletions succeed (1,500 rows)"
    return Measured(said, lost == 0 and done == len(tasks) and narrow["refusals"] == ["DiskFull"])


def _on_full_disk(folder: Path, task: str) -> dict[str, object]:
    code = f"from tests.faults.full_disk_program import main; main({task!r})"
    disk = folder / "disk"
    disk.mkdir(exist_ok=True)
    return json.loads(run_on_small_disk(disk, code, mib=32))
