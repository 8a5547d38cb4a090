"""Saves and loads the workspace of a task, 1 GB by default, against `tar | zstd` on the same disk: time and memory.

Memory is measured in a program for itself, `python -m bench.tasks HOME WORKSPACE`, with 2 GB by default.
"""

import os
import random
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum

_MIB = int(os.environ.get("BENCH_TASKS_MIB", sized("1024", "8")))
_RUNS = int(os.environ.get("BENCH_TASKS_RUNS", sized("5", "1")))
_MEMORY_MIB = int(os.environ.get("BENCH_TASKS_MEMORY_MIB", sized("2048", "16")))
_LIMIT, _MEMORY_LIMIT = 1.3, 64
_OURS, _THEIRS, _SYNCED = "ours", "tar | zstd -3", "tar | zstd -3, synced"


def main() -> None:
    place = os.environ.get("BENCH_TASKS_FOLDER")
    with tempfile.TemporaryDirectory(dir=place) as name, own_surroundings(Path(name)):
        folder = Path(name)
        if shutil.which("zstd") is None:
            print("the program zstd is not installed, so there is nothing to compare with")
        else:
            _compare(folder)
        _measure_memory(folder)


def _compare(folder: Path) -> None:
    workspace, busy = _filled(folder / "work", _MIB), os.getloadavg()[0]
    packed = folder / "work.tar.zst"
    pack = f"tar -C {folder} -cf - work | zstd -q -f -3 -T1 -o {packed}"
    unpack = f"mkdir {folder}/theirs && zstd -q -dc {packed} | tar -C {folder}/theirs -xf -"
    with Recollectum(folder / "home", create=True) as home:
        tasks = home.vault("user:ada").tasks
        saves = _Turns(
            {
                _OURS: lambda: tasks.save_workspace("t", workspace, fresh=True),
                _THEIRS: lambda: _shell(pack),
                _SYNCED: lambda: _shell(f"{pack} && sync {packed} {folder}"),
            }
        )
        loads = _Turns({_OURS: lambda: tasks.extract("t", folder / "ours"), _THEIRS: lambda: _shell(unpack)})
        for _ in range(_RUNS):
            saves.run()
            loads.run()
            shutil.rmtree(folder / "ours")
            shutil.rmtree(folder / "theirs")
        stored = tasks.get("t").stored_bytes
    shutil.rmtree(workspace)
    # Threads that are always busy wait longer for a processor that others use than two programs with a pipe do.
    others = f"the load of the machine was {busy:.1f} before, with {os.cpu_count()} processors"
    print(f"a workspace of {_MIB} MiB, {_RUNS} runs in turns; a save is synced to the disk, a load is not; {others}")
    print(f"  stored: {stored / 2**20:.0f} MiB, theirs {packed.stat().st_size / 2**20:.0f} MiB")
    print(saves.lines("save"))
    print(loads.lines("load"))


class _Turns:
    """Some works that are run in turns, each time in the opposite order."""

    def __init__(self, works: Mapping[str, Callable[[], object]]) -> None:
        self._works = works
        self._seconds: dict[str, list[float]] = {name: [] for name in works}
        self._cpu: dict[str, list[float]] = {name: [] for name in works}

    def run(self) -> None:
        order = list(self._works.items())
        for name, work in order if len(self._seconds[_OURS]) % 2 else reversed(order):
            # What the one before it wrote is not to be written during this one.
            os.sync()
            began, used = time.perf_counter(), _cpu_seconds()
            work()
            self._seconds[name].append(time.perf_counter() - began)
            self._cpu[name].append(_cpu_seconds() - used)

    def lines(self, what: str) -> str:
        """Return for each work of theirs the times, and the ratios: of the least times, and the median of the turns."""
        ours, own_cpu = (min(of[_OURS]) for of in (self._seconds, self._cpu))
        found = [f"  {what}: {ours:.2f} s, CPU {own_cpu:.2f} s"]
        for name in list(self._works)[1:]:
            theirs, cpu = (min(of[name]) for of in (self._seconds, self._cpu))
            turns = [one / other for one, other in zip(self._seconds[_OURS], self._seconds[name], strict=True)]
            verdict = f" ({'within' if ours <= _LIMIT * theirs else 'OVER'} {_LIMIT})" if name == _THEIRS else ""
            found.append(
                f"    {name}: {theirs:.2f} s, ratio {ours / theirs:.2f}{verdict}, in the turns "
                f"{min(turns):.2f} to {max(turns):.2f}, median {statistics.median(turns):.2f}; "
                # On a machine that others use, this says more than the time.
                f"CPU {cpu:.2f} s, ratio {own_cpu / cpu:.2f}"
            )
        return "\n".join(found)


def _measure_memory(folder: Path) -> None:
    workspace = folder / "large"
    workspace.mkdir()
    with (workspace / "file").open("wb") as file:
        for _ in range(_MEMORY_MIB):
            # Random bytes need the most memory: they stay as large when they are compressed.
            file.write(os.urandom(2**20))
    command = [sys.executable, "-m", "bench.tasks", str(folder / "memory"), str(workspace)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    before, saved, loaded = (float(one) for one in done.stdout.split())
    most = max(saved, loaded) - before
    verdict = "within" if most <= _MEMORY_LIMIT else "OVER"
    print(f"a workspace of {_MEMORY_MIB} MiB that does not compress, in a program for itself, peak of the memory")
    print(f"  save: {saved - before:.1f} MiB more than the {before:.0f} MiB of a small task")
    print(f"  save and load: {most:.1f} MiB more ({verdict} {_MEMORY_LIMIT})")


def _print_peaks(folder: Path, workspace: Path) -> None:
    """Print the peak of this program's memory in MiB: after a small task, after a save and after a load."""
    with Recollectum(folder / "home", create=True) as home:
        tasks = home.vault("user:ada").tasks
        small = folder / "small"
        small.mkdir()
        (small / "file").write_bytes(b"small")
        # The first task loads the modules.
        tasks.save_workspace("small", small)
        tasks.extract("small", folder / "small-again")
        print(_peak())
        tasks.save_workspace("large", workspace)
        print(_peak())
        tasks.extract("large", folder / "large-again")
        print(_peak())


def _peak() -> float:
    status = Path("/proc/self/status")
    if status.exists():
        # Not by getrusage: on Linux a program starts with the peak of the one that started it.
        (line,) = (one for one in status.read_text().splitlines() if one.startswith("VmHWM:"))
        return int(line.split()[1]) / 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 1024)


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


if __name__ == "__main__":
    _print_peaks(*(Path(one) for one in sys.argv[1:]))
