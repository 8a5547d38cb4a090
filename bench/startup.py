"""Measures the start: the import, a home, a vault, the size of an empty one, and the answer to --help."""

import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum

_TURNS = sized(15, 2)
_PEOPLE = sized(60, 3)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        home = Path(folder) / "home"
        bare = _processor_of("pass")
        measured = {
            "`import recollectum`, CPU": _milliseconds(_processor_of("import recollectum") - bare),
            "`recollectum --help`, CPU": _help(),
            "opening a new home": _milliseconds(_clock(lambda: Recollectum(home).close())),
            "opening a home that is there, p50": _milliseconds(
                median(_clock(lambda: Recollectum(home).close()) for _ in range(_TURNS))
            ),
            **_vaults(home),
        }
    print("| what | cost |\n|---|---|")
    for what, cost in measured.items():
        print(f"| {what} | {cost} |")


def _vaults(home: Path) -> dict[str, str]:
    people = [f"user:person{number}" for number in range(_PEOPLE)]
    with Recollectum(home) as r:
        made = median(_clock(lambda name=name: r.vault(name)) for name in people)
    sizes = [path.stat().st_size for path in (home / "vaults").glob("*.db")]
    with Recollectum(home) as r:
        found = [r.vault(name) for name in people]
        opened = median(_clock(lambda vault=vault: vault.memories.list(limit=1)) for vault in found)
        again = median(_clock(lambda vault=vault: vault.memories.list(limit=1)) for vault in found)
    return {
        "making a vault, p50": _milliseconds(made),
        "opening a vault (its first read), p50": _milliseconds(opened),
        "the same read again, p50": _milliseconds(again),
        "an empty vault on disk": f"{max(sizes) / 1024:.0f} KiB",
    }


def _clock(work: Callable[[], object]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


def _help() -> str:
    program = Path(sys.executable).with_name("recollectum")
    return _milliseconds(_processor(program, "--help")) if program.exists() else "not installed"


def _processor_of(code: str) -> float:
    return _processor(Path(sys.executable), "-c", code)


def _processor(program: Path, *arguments: str) -> float:
    """Return the CPU seconds of a program; the median of several runs."""
    taken: list[float] = []
    for _ in range(_TURNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([program, *arguments], capture_output=True, check=True, env=dict(os.environ))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        taken.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return median(taken)


def _milliseconds(seconds: float) -> str:
    return f"{seconds * 1000:.1f} ms"
