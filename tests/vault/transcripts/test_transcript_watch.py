"""The watcher of transcripts: which files are due at which look, by a clock that the test turns."""

import threading
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from recollectum.domain.files.transcript import TranscriptReport
from recollectum.settings.model import TranscriptSettings
from recollectum.vault.transcripts.watch import TranscriptWatch
from recollectum.vault.vault import Vault
from tests.matrix.homes import Turning, open_home
from tests.vault.transcript_files import append, kept, lines, remarks, said

USUAL = TranscriptSettings()


class Bench:
    """A folder under watch, with what was asked to be synced."""

    def __init__(self, folder: Path, rules: TranscriptSettings) -> None:
        self.folder = folder
        self.now = 100.0
        self.asked: list[set[str] | None] = []
        self.watch = TranscriptWatch(lambda: sorted(folder.glob("*.jsonl")), self._sync, rules, lambda: self.now)

    def _sync(self, only: Collection[str] | None) -> TranscriptReport:
        self.asked.append(None if only is None else {Path(path).name for path in only})
        return TranscriptReport()

    def steps(self, seconds: float = 0.0) -> list[set[str] | None]:
        """What one look, so many seconds later, asks for."""
        self.now += seconds
        self.asked.clear()
        self.watch.step()
        return list(self.asked)


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    append(tmp_path / "a.jsonl", lines(range(3)))
    return Bench(tmp_path, USUAL)


@pytest.mark.feature("G13")
def test_a_little_waits_for_the_rest(bench: Bench) -> None:
    assert bench.steps() == [None]
    append(bench.folder / "a.jsonl", said(3))
    assert bench.steps(1) == []
    append(bench.folder / "a.jsonl", said(4))
    assert bench.steps(4.5) == []
    assert bench.steps(4.9) == []
    assert bench.steps(0.1) == [{"a.jsonl"}]
    assert bench.steps(60) == []


@pytest.mark.feature("G13")
def test_much_does_not_wait(bench: Bench) -> None:
    bench.steps()
    append(bench.folder / "a.jsonl", lines(range(3, 52)))
    assert bench.steps(1) == []
    append(bench.folder / "a.jsonl", lines(range(52, 53)))
    assert bench.steps(0.1) == [{"a.jsonl"}]
    append(bench.folder / "a.jsonl", said(53, "x" * 99_000))
    append(bench.folder / "b.jsonl", said(0))
    assert bench.steps(0.1) == []
    append(bench.folder / "a.jsonl", said(54, "x" * 2000))
    assert bench.steps(0.1) == [{"a.jsonl"}]
    assert bench.steps(5) == [{"b.jsonl"}]


@pytest.mark.feature("G20")
@pytest.mark.parametrize(
    ("rules", "grown"),
    [
        (replace(USUAL, delta_bytes=10, delta_messages=0), said(3)),
        (replace(USUAL, delta_bytes=0, delta_messages=1), said(3)),
        (replace(USUAL, debounce_seconds=0.0, delta_bytes=0, delta_messages=0), b"x"),
    ],
)
def test_each_number_is_obeyed(tmp_path: Path, rules: TranscriptSettings, grown: bytes) -> None:
    append(tmp_path / "a.jsonl", lines(range(3)))
    bench, usual = Bench(tmp_path, rules), Bench(tmp_path, USUAL)
    bench.steps()
    usual.steps()
    append(tmp_path / "a.jsonl", grown)
    assert bench.steps(0.1) == [{"a.jsonl"}]
    assert usual.steps(0.1) == []


@pytest.mark.feature("G20")
def test_intervals_see_to_everything_and_alone_when_nobody_watches(tmp_path: Path) -> None:
    append(tmp_path / "a.jsonl", lines(range(3)))
    bench = Bench(tmp_path, replace(USUAL, watch="off", interval_minutes=1))
    assert bench.steps() == [None]
    append(tmp_path / "a.jsonl", lines(range(3, 99)))
    assert bench.steps(59) == []
    assert bench.steps(1) == [None]


def test_a_cut_and_a_vanished_file(bench: Bench) -> None:
    bench.steps()
    (bench.folder / "a.jsonl").write_bytes(said(0))
    assert bench.steps(1) == []
    assert bench.steps(5) == [{"a.jsonl"}]
    (bench.folder / "a.jsonl").unlink()
    assert bench.steps(5) == []


@pytest.mark.feature("G13")
def test_a_watcher_reads_on(place: Path, tmp_path: Path, vault: Vault, clock: Turning) -> None:
    path = append(tmp_path / "a.jsonl", lines(range(2)))
    vault.admin.transcripts.add(path)
    wanted = {"transcripts.debounce_seconds": 0.02, "transcripts.on_search": "off"}
    with open_home(place, clock, settings=wanted) as home:
        watched = home.vault("user:alice")
        stop, synced = threading.Event(), threading.Semaphore(0)

        def tell(_: TranscriptReport) -> None:
            synced.release()

        watcher = threading.Thread(target=watched.admin.transcripts.watch, args=(stop, tell))
        watcher.start()
        try:
            assert synced.acquire(timeout=30)
            append(path, said(2))
            assert synced.acquire(timeout=30)
            assert kept(watched) == remarks(range(3))
        finally:
            stop.set()
            watcher.join()
