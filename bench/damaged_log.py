"""Counts damage of a write-ahead log that goes unnoticed: flipped bytes and cuts, after a crash, plain and encrypted.

A process saves memories and is killed, so that the log holds them. Then one byte of the log is flipped, or its end is
cut off, and the vault is opened: it must refuse once and keep the log, or have every memory that was acknowledged.
The torn tail of a crash, which nobody was told of, must not be taken for damage.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from bench.sizes import sized
from recollectum import Recollectum
from recollectum.domain.errors import Damaged
from recollectum.storage.sqlite.files import HomeFiles, with_logs
from tests.matrix.homes import Turning, open_home, quick_folder

FLIPS, CUTS, TAILS = sized(80, 6), sized(40, 4), sized(40, 4)
_ROOT = Path(__file__).parents[1]
_OWNER = "user:ann"
_SAVES = 12
_SEED = 20261116
#: The end of the header of the log, where its frames begin.
_FRAMES = 32

Damage = Callable[[Path, random.Random], None]


def main() -> None:
    silent = 0
    print("| vault | what happened to the log | tries | noticed | nothing lost | silent | false alarms |")
    print("|---|---|--:|--:|--:|--:|--:|")
    for encryption in ("off", "auto"):
        for name, count, damage in (("a byte flipped", FLIPS, flip), ("cut", CUTS, cut), ("torn tail", TAILS, tear)):
            found = Counter(results(encryption, count, damage))
            alarms = found["noticed"] if damage is tear else 0
            silent += found["silent"] + alarms
            kind = "plain" if encryption == "off" else "encrypted"
            counts = f"{found['noticed'] - alarms} | {found['whole']} | {found['silent']} | {alarms}"
            print(f"| {kind} | {name} | {found.total()} | {counts} |")
    if silent:
        raise SystemExit(f"{silent} times a log was read wrongly without a word, or a torn tail was taken for damage")


def results(encryption: str, count: int, damage: Damage) -> Iterator[str]:
    """Yield what came of each damage: noticed, whole (nothing was lost), or silent."""
    with quick_folder() as folder:
        with open_home(folder, Turning(), encryption=encryption) as home:
            home.vault(_OWNER).memories.save("the first of all")
            files = HomeFiles(home.home)
        (path,) = files.vaults()
        _save_and_die(folder, encryption)
        kept = {part: part.read_bytes() for part in with_logs(path) if part.exists()}
        chance = random.Random(_SEED)
        for _ in range(count):
            for part in with_logs(path):
                part.unlink(missing_ok=True)
            for part, data in kept.items():
                part.write_bytes(data)
            damage(path.with_name(path.name + "-wal"), chance)
            yield _result(folder, encryption)
            shutil.rmtree(files.home.backups, ignore_errors=True)


def flip(log: Path, chance: random.Random) -> None:
    """Flip one byte of the log."""
    data = bytearray(log.read_bytes())
    data[chance.randrange(len(data))] ^= chance.randrange(1, 256)
    log.write_bytes(data)


def cut(log: Path, chance: random.Random) -> None:
    """Cut the log at any byte."""
    log.write_bytes(log.read_bytes()[: chance.randrange(log.stat().st_size)])


def tear(log: Path, chance: random.Random) -> None:
    """Append the beginning of a transaction that was never acknowledged."""
    data = log.read_bytes()
    tail = bytearray(data[_FRAMES : _FRAMES + chance.randrange(1, len(data) // 3)])
    tail[8:16] = data[16:24]
    # No commit: its frames say that more follow.
    step = 24 + int.from_bytes(data[8:12], "big")
    for start in range(0, len(tail), step):
        tail[start + 4 : start + 8] = bytes(4)
    log.write_bytes(data + tail)


def _save_and_die(folder: Path, encryption: str) -> None:
    line = [sys.executable, "-m", "bench.damaged_log", str(folder), encryption]
    died = subprocess.run(line, cwd=_ROOT, capture_output=True, check=False, text=True)
    if died.returncode != -signal.SIGKILL:
        raise SystemExit(f"the writer was not killed: {died.stderr}")


def _write(folder: Path, encryption: str) -> None:
    home = open_home(folder, Turning(), encryption=encryption)
    for number in range(_SAVES):
        home.vault(_OWNER).memories.save(f"the harbour closes at {number} o'clock")
    os.kill(os.getpid(), signal.SIGKILL)


def _result(folder: Path, encryption: str) -> str:
    with open_home(folder, Turning(), encryption=encryption) as home:
        try:
            whole = _is_whole(home)
        except Damaged:
            copies = list(home.home.backups.glob("aside-*-log-*/*-wal"))
            # It must open the second time, without what was lost.
            _is_whole(home)
            return "noticed" if copies else "silent"
    return "whole" if whole else "silent"


def _is_whole(home: Recollectum) -> bool:
    return len(home.vault(_OWNER).memories.list(limit=100)) == _SAVES + 1


if __name__ == "__main__":
    _write(Path(sys.argv[1]), sys.argv[2])
