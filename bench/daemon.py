"""Measures an idle daemon: CPU time per minute and memory, with no vault, one and fifty."""

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from bench.sizes import sized
from bench.surroundings import own_surroundings
from recollectum import Recollectum
from recollectum.home.core_dumps import VARIABLE

_SETTLE_SECONDS = sized(75.0, 1.0)
_WATCH_SECONDS = sized(60.0, 1.0)
_MANY = sized(50, 2)
_MINUTE = 60.0


@dataclass(frozen=True, slots=True)
class Cost:
    """What one idle daemon used."""

    processor_ms: float
    memory_mib: float
    threads: int
    open_vaults: int


def main(arguments: Sequence[str] = ()) -> None:
    """Measure each for some seconds after it is idle; the numbers may be given: SETTLE WATCH."""
    settle = float(arguments[0]) if arguments else _SETTLE_SECONDS
    watch = float(arguments[1]) if len(arguments) > 1 else _WATCH_SECONDS
    print("| vaults | when | processor a minute | of one core | memory | threads | open vaults |")
    print("|--:|---|--:|--:|--:|--:|--:|")
    sizes = (0, 1, _MANY)
    with tempfile.TemporaryDirectory() as folder, own_surroundings(Path(folder)):
        homes = [Path(folder) / f"home{vaults}" for vaults in sizes]
        for home, vaults in zip(homes, sizes, strict=True):
            _fill(home, vaults)
        for when in ("first start", "after a restart"):
            # In parallel: their own CPU time is measured, and it saves minutes of waiting.
            with ThreadPoolExecutor(len(homes)) as pool:
                costs = list(pool.map(partial(_measured, settle, watch), homes))
            for vaults, cost in zip(sizes, costs, strict=True):
                print(
                    f"| {vaults} | {when} | {cost.processor_ms:.0f} ms | {cost.processor_ms / 600:.2f} % | "
                    f"{cost.memory_mib:.0f} MiB | {cost.threads} | {cost.open_vaults} |",
                    flush=True,
                )


def _fill(home: Path, vaults: int) -> None:
    with Recollectum(home) as opened:
        for number in range(vaults):
            vault = opened.vault(f"user:person{number}")
            for line in range(20):
                vault.memories.save(f"line {line} of what person {number} wants to keep")


def _measured(settle: float, watch: float, home: Path) -> Cost:
    # Linux shows the open files and the memory only of a process that may be dumped.
    environ = {**os.environ, "RECOLLECTUM_HOME": str(home), VARIABLE: "1"}
    line = [sys.executable, "-m", "recollectum.doors.cli.main", "serve", "--json", "--port", "0"]
    with subprocess.Popen(line, stdout=subprocess.PIPE, text=True, env=environ) as process:
        try:
            assert process.stdout is not None
            json.loads(process.stdout.readline())
            time.sleep(settle)
            before, began = _processor(process.pid), time.monotonic()
            time.sleep(watch)
            taken = (_processor(process.pid) - before) * _MINUTE / (time.monotonic() - began)
            return Cost(taken * 1000, _memory(process.pid), _entries(process.pid, "task"), _vault_files(process.pid))
        finally:
            process.terminate()
            process.wait()


def _processor(pid: int) -> float:
    """Return seconds of CPU time, of the program and of the kernel for it."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _memory(pid: int) -> float:
    lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("Pss:")) / 1024


def _entries(pid: int, what: str) -> int:
    return len(list(Path(f"/proc/{pid}/{what}").iterdir()))


def _vault_files(pid: int) -> int:
    """Return how many vaults it has open."""
    targets: set[str] = set()
    for entry in Path(f"/proc/{pid}/fd").iterdir():
        try:
            targets.add(str(entry.readlink()))
        except OSError:
            continue
    return sum("/vaults/" in target and target.endswith(".db") for target in targets)
