"""Homes whose vaults are moved: made, asked, written and moved, in this process and in others."""

import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from queue import Queue

from recollectum import Recollectum
from recollectum.domain.access.owner import Owner
from recollectum.domain.ids import Clock, system_clock
from recollectum.home.paths import Home
from recollectum.settings.load import load
from recollectum.upkeep.move import Move, MoveResult, move_home
from tests.upkeep.homes import ANN, BEN, fill, said

_ROOT = Path(__file__).parents[3]
_SETTINGS = '[embedding]\nprovider = "none"\n[storage]\nreserve_mib = 0\n'
QUESTIONS = ("things to keep", "tea with milk", "conversation message 3")
_PATIENCE = 60.0


def environ_of(place: Path) -> dict[str, str]:
    """The environment of the programs that use the home in a folder."""
    names = {"HOME": "user", "XDG_CONFIG_HOME": "config", "RECOLLECTUM_SYSTEM_DIR": "system"}
    return {name: str(place / folder) for name, folder in names.items()}


def opened(place: Path) -> Recollectum:
    """The home, opened in this process."""
    return Recollectum(place / "home", environ=environ_of(place))


def made(
    place: Path, url: str, owners: Sequence[str] = (ANN, BEN), count: int = 20, *, encryption: str = "auto"
) -> dict[str, object]:
    """A home with a vault for each owner on one engine; what it says."""
    (place / "home").mkdir(mode=0o700)
    line = f'url = "{url}"\n' if url else ""
    (place / "home" / "settings.toml").write_text(f'encryption = "{encryption}"\n{_SETTINGS}{line}')
    with opened(place) as home:
        for owner in owners:
            fill(home.vault(owner), count)
    return says(place, owners)


def says(place: Path, owners: Sequence[str] = (ANN, BEN)) -> dict[str, object]:
    """What is remembered, how it is ranked, and the trail."""
    with opened(place) as home:
        return {
            owner: (
                said(home.vault(owner)),
                [[(hit.text, hit.score) for hit in home.vault(owner).recall(one)] for one in QUESTIONS],
                home.vault(owner).admin.events.list(limit=200),
            )
            for owner in owners
        }


def moved(place: Path, url: str, *owners: str, dry_run: bool = False, clock: Clock = system_clock) -> MoveResult:
    """Move all vaults, or those of some owners, in this process."""
    home, environ = Home(place / "home"), environ_of(place)
    settings = load(home, cwd=place, environ=environ).settings
    move = Move(home=home, settings=settings, url_setting=url, url=url, environ=environ, clock=clock)
    if owners:
        move = replace(move, owners=tuple(Owner.parse(one) for one in owners))
    return move_home(move, dry_run=dry_run)


def _program(place: Path, module: str, *arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", f"tests.upkeep.move.{module}", str(place / "home"), *arguments]
    pipe, environ = subprocess.PIPE, {**environ_of(place), "PYTHONPATH": str(_ROOT)}
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, env=environ, text=True)


def killed_at(place: Path, url: str, point: tuple[str, str], *owners: str) -> None:
    """Move in a separate process, and kill it at a point."""
    with _program(place, "moving_program", url, ",".join(owners), *point) as running:
        assert running.stdout is not None
        found = [running.stdout.readline().strip() for _ in range(2)]
        assert found == ["moving", "there"], (found, running.stderr and running.stderr.read())
        running.kill()


def killed_after(place: Path, url: str, seconds: float, *owners: str) -> bool:
    """Move in a separate process, and kill it after a while; return whether it was done before."""
    with _program(place, "moving_program", url, ",".join(owners), "", "") as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "moving\n"
        try:
            running.wait(seconds)
        except subprocess.TimeoutExpired:
            running.kill()
            return False
        errors = running.stderr.read() if running.stderr else ""
        if running.returncode and " already; " in errors:
            # An earlier one was killed after its last step.
            return True
        assert running.returncode == 0, errors
        return True


class Writers:
    """Programs that write to the vaults all the time."""

    def __init__(self, programs: "Sequence[subprocess.Popen[str]]") -> None:
        self._programs = programs
        self._lines: Queue[str] = Queue()
        self.acknowledged: list[str] = []
        self._threads = [threading.Thread(target=self._read, args=(one,)) for one in programs]
        for thread in self._threads:
            thread.start()

    def _read(self, program: "subprocess.Popen[str]") -> None:
        assert program.stdout is not None
        for line in program.stdout:
            self._lines.put(line.strip())

    def more(self, count: int) -> None:
        """Wait until they have written so many more."""
        deadline = time.monotonic() + _PATIENCE
        wanted = len(self.acknowledged) + count
        while len(self.acknowledged) < wanted:
            for one in self._programs:
                assert one.poll() is None, one.stderr and one.stderr.read()
            self._take()
            assert time.monotonic() < deadline, "the writers stand still"
            time.sleep(0.01)

    def _take(self) -> None:
        while not self._lines.empty():
            self.acknowledged.append(self._lines.get())

    def stop(self) -> None:
        """Let them end, and check that none of them noticed anything."""
        for one in self._programs:
            assert one.stdin is not None
            one.stdin.close()
        for one, thread in zip(self._programs, self._threads, strict=True):
            one.wait(_PATIENCE)
            thread.join()
            assert one.stderr is not None
            assert (one.returncode, one.stderr.read()) == (0, "")
            one.stderr.close()
            assert one.stdout is not None
            one.stdout.close()
        self._take()


@contextmanager
def writing(place: Path, *owners: str, count: int = 2, program: str = "writing_program") -> Generator[Writers]:
    """Let programs write while this is open."""
    programs = [_program(place, program, f"writer {number}", ",".join(owners)) for number in range(count)]
    writers = Writers(programs)
    try:
        writers.more(2 * max(1, len(owners)))
        yield writers
        writers.stop()
    finally:
        for one in programs:
            one.kill()
            one.wait()


def check_written(place: Path, owners: Sequence[str], acknowledged: Sequence[str]) -> None:
    """Check that every acknowledged write is there once."""
    with opened(place) as home:
        found: Counter[str] = Counter()
        for owner in owners:
            page = home.vault(owner).memories.list(limit=1000)
            while True:
                found.update(f"{owner} {memory.content}" for memory in page)
                if page.next is None:
                    break
                page = home.vault(owner).memories.list(limit=1000, cursor=page.next)
    lost = [one for one in acknowledged if not found[one]]
    assert not lost, f"{len(lost)} of {len(acknowledged)} are lost: {lost[:3]}"
    doubled = [one for one in acknowledged if found[one] > 1]
    assert not doubled, doubled[:3]
