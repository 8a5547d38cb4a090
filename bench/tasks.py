"""Saves and loads the workspace of a task, 1 GB by default, against `tar | zstd` on the same disk: time and memory."""

import os
import random
import resource
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum

_MIB = int(os.environ.get("BENCH_TASKS_MIB", sized("1024", "8")))
_RUNS = int(os.environ.get("BENCH_TASKS_RUNS", sized("3", "1")))
_LIMIT = 1.3


def main() -> None:
    place = os.environ.get("BENCH_TASKS_FOLDER")
    with tempfile.TemporaryDirectory(dir=place) as name, own_surroundings(Path(name)):
        folder = Path(name)
        workspace = _filled(folder / "work", _MIB)
        if shutil.which("zstd") is None:
            print("the program zstd is not installed, so there is nothing to compare with")
            return
        with Recollectum(folder / "home", create=True) as home:
            tasks = home.vault("user:ada").tasks
            saves = _Pair(
                lambda: tasks.save_workspace("t", workspace, fresh=True),
                lambda: _shell(f"tar -C {folder} -cf - work | zstd -q -f -T1 -o {folder}/work.tar.zst"),
            )
            loads = _Pair(
                lambda: tasks.extract("t", folder / "ours"),
                lambda: _shell(
                    f"mkdir {folder}/theirs && zstd -q -dc {folder}/work.tar.zst | tar -C {folder}/theirs -xf -"
                ),
            )
            for _ in range(_RUNS):
                saves.run()
                loads.run()
                shutil.rmtree(folder / "ours")
                shutil.rmtree(folder / "theirs")
            stored = tasks.get("t").stored_bytes
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        print(f"a workspace of {_MIB} MiB, the least of {_RUNS} interleaved runs; theirs is tar | zstd -3, not synced")
        print(f"  stored: {stored / 2**20:.0f} MiB, theirs {(folder / 'work.tar.zst').stat().st_size / 2**20:.0f} MiB")
        print(f"  {saves.line('save')}")
        print(f"  {loads.line('load')}")
        print(f"  memory of the whole process at most {peak:.0f} MiB")


class _Pair:
    """Ours and theirs, run in turns."""

    def __init__(self, ours: Callable[[], object], theirs: Callable[[], object]) -> None:
        self._works = (ours, theirs)
        self._seconds: tuple[list[float], list[float]] = ([], [])
        self._cpu: tuple[list[float], list[float]] = ([], [])

    def run(self) -> None:
        for work, seconds, cpu in zip(self._works, self._seconds, self._cpu, strict=True):
            # What the other one wrote is not to be written during this one.
            os.sync()
            began, used = time.perf_counter(), _cpu_seconds()
            work()
            seconds.append(time.perf_counter() - began)
            cpu.append(_cpu_seconds() - used)

    def line(self, what: str) -> str:
        ours, theirs = (min(seconds) for seconds in self._seconds)
        verdict = "within" if ours <= _LIMIT * theirs else "OVER"
        of_time = f"{what}: {ours:.2f} s, theirs {theirs:.2f} s, ratio {ours / theirs:.2f} ({verdict} {_LIMIT})"
        # On a machine that others use, a pipe of two programs gets twice the share of one.
        ours, theirs = (min(seconds) for seconds in self._cpu)
        return f"{of_time}; CPU {ours:.2f} s, theirs {theirs:.2f} s, ratio {ours / theirs:.2f}"


def _filled(folder: Path, mib: int) -> Path:
    """Make a workspace as agents have them: many sources, some logs, and data that does not compress."""
    chance = random.Random(11)
    words = [chance.randbytes(chance.randint(2, 9)).hex() for _ in range(4000)]
    left, number = mib * 2**20, 0
    while left > 0:
        place = folder / f"d{number % 40}" / f"e{number % 7}"
        place.mkdir(parents=True, exist_ok=True)
        if number % 50 == 0:
            data = chance.randbytes(min(left, 4 * 2**20))
        else:
            data = " ".join(chance.choices(words, k=chance.randint(200, 12_000))).encode()[:left]
        (place / f"f{number}").write_bytes(data)
        left -= len(data)
        number += 1
    return folder


def _cpu_seconds() -> float:
    """Return the CPU time of this process and of those that it waited for."""
    own, others = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return own.ru_utime + own.ru_stime + others.ru_utime + others.ru_stime


def _shell(line: str) -> None:
    subprocess.run(["bash", "-c", f"set -o pipefail; {line}"], check=True)
