"""Open vaults: each lives and dies as a whole, within a limit of count and of bytes."""

import gc
import os
import resource
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TypeVar

import pytest

from recollectum import Recollectum
from recollectum.domain.models.embedder import Purpose
from recollectum.recall.vectors.matrix import VectorMatrix
from recollectum.recall.vectors.vector_search import VectorSearch
from recollectum.testing import ScriptedEmbedder
from recollectum.vault.open_vaults import OpenVault, SessionCache

T = TypeVar("T")
pytestmark = pytest.mark.slow

pytest.importorskip("numpy")

#: How many vaults are touched; the promise is about 1,000, which takes minutes.
TOUCHED = int(os.environ.get("RECOLLECTUM_TEST_VAULTS", "60"))
OPEN = 10
#: A thousand vaults may leave this much more behind than the first quarter of them did.
GROWTH_MIB = 24


#: What tests before this one in the same process have left behind; held, so that none of them gives its id to another.
_older: list[object] = []


@pytest.fixture(autouse=True)
def only_new_ones() -> Iterator[None]:
    """Count from what is alive when a test begins."""
    gc.collect()
    _older[:] = [
        one for one in gc.get_objects() if isinstance(one, OpenVault | VectorSearch | VectorMatrix | SessionCache)
    ]
    yield
    _older.clear()


def found(kind: type[T]) -> list[T]:
    gc.collect()
    known = {id(one) for one in _older}
    return [one for one in gc.get_objects() if isinstance(one, kind) and id(one) not in known]


def alive(kind: type[object]) -> int:
    return len(found(kind))


def resident_mib() -> float:
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20
    except FileNotFoundError:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def touch(home: Recollectum, name: str) -> None:
    vault = home.vault(f"user:{name}")
    vault.memories.save(f"The kettle of {name} is blue")
    assert [hit.text for hit in vault.recall("kettle", limit=1)] == [f"The kettle of {name} is blue"]
    vault.sessions.list()


def test_of_many_vaults_a_bounded_number_is_held_in_memory(tmp_path: Path) -> None:
    before = {kind: alive(kind) for kind in (OpenVault, VectorSearch, VectorMatrix, SessionCache)}
    settings = {"encryption": "off", "storage.open_vaults": OPEN}
    resident: list[float] = []
    with Recollectum(tmp_path, settings=settings, embedder=ScriptedEmbedder()) as home:
        for number in range(TOUCHED):
            touch(home, f"person{number}")
            if number in (TOUCHED // 4, TOUCHED - 1):
                resident.append(resident_mib())
        for kind, count in before.items():
            assert 0 < alive(kind) - count <= OPEN, kind
        assert len(list(home.home.vaults.glob("*-wal"))) <= OPEN
    assert {kind: alive(kind) for kind in before} == before
    if TOUCHED >= 1000:
        assert resident[1] - resident[0] <= GROWTH_MIB


def test_the_vectors_of_open_vaults_take_a_bounded_number_of_bytes(tmp_path: Path) -> None:
    settings = {"encryption": "off", "storage.open_vaults_mib": 1}
    with Recollectum(tmp_path, settings=settings, embedder=ScriptedEmbedder()) as home:
        for number in range(30):
            touch(home, f"person{number}")
        held = sum(one.held_bytes for one in found(VectorMatrix))
        assert 0 < held <= 2**20
        assert alive(VectorMatrix) > 1
        touch(home, "person0")


def test_the_vault_in_use_stays_open_however_large_it_is(tmp_path: Path) -> None:
    embedder = ScriptedEmbedder(dimensions=2048)
    settings = {"encryption": "off", "storage.open_vaults_mib": 1}
    with Recollectum(tmp_path, settings=settings, embedder=embedder) as home:
        touch(home, "ann")
        assert [one.held_bytes > 2**20 for one in found(VectorMatrix)] == [True]
        home.vault("user:ann").recall("kettle")
        assert alive(VectorMatrix) == 1
        touch(home, "bob")
        assert alive(VectorMatrix) == 1


def test_a_vault_is_not_closed_under_an_operation(tmp_path: Path) -> None:
    settings = {"encryption": "off", "embedding.provider": "none", "storage.open_vaults": 1}
    with Recollectum(tmp_path, settings=settings) as home:
        ann = home.vault("user:ann")
        ann.memories.save("The kettle is blue")
        inside, go_on, seen = threading.Event(), threading.Event(), list[int]()

        def work() -> None:
            def look(*_: object) -> int:
                inside.set()
                assert go_on.wait(60)
                return 42

            seen.append(ann._runtime.read(look))  # pyright: ignore[reportPrivateUsage]

        reader = threading.Thread(target=work)
        reader.start()
        assert inside.wait(60)
        home.vault("user:bob").memories.save("The cup is red")
        assert alive(OpenVault) == 2, "ann's is in use"
        go_on.set()
        reader.join()
        assert seen == [42]
        assert alive(OpenVault) == 1
        assert [one.content for one in ann.memories.list()] == ["The kettle is blue"]


def test_a_vault_is_not_closed_under_its_background_work_and_closes_when_that_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The work does not end while it waits.
    monkeypatch.setattr("recollectum.recall.vectors.vector_search.PATIENCE_SECONDS", 0.2)
    go_on = threading.Event()

    def hold(_: Sequence[str], purpose: Purpose) -> None:
        if purpose is Purpose.PASSAGE:
            assert go_on.wait(60)

    embedder = ScriptedEmbedder(fail=hold)
    settings = {"encryption": "off", "storage.open_vaults": 1}
    with Recollectum(tmp_path, settings=settings, embedder=embedder) as home:
        ann = home.vault("user:ann")
        for number in range(40):
            ann.memories.save(f"Kettle {number} is blue")
        # It waits for the first passages no longer than a question may, and leaves them to a thread.
        ann.recall("kettle")
        assert embedder.passages
        home.vault("user:bob").memories.save("The cup is red")
        assert alive(OpenVault) == 2, "a thread embeds ann's memories"
        go_on.set()
        deadline = time.monotonic() + 60
        while alive(OpenVault) > 1 and time.monotonic() < deadline:
            time.sleep(0.1)
        assert alive(OpenVault) == 1
        assert len(ann.recall("kettle", limit=50)) == 40
        assert len(set(embedder.passages)) == 40, "what was stopped goes on from there"


def test_a_vault_that_is_open_is_handed_out_in_few_calls(tmp_path: Path) -> None:
    with Recollectum(tmp_path, settings={"encryption": "off", "embedding.provider": "none"}) as home:
        touch(home, "ann")
        # The constructors of records are compiled when they are used often.
        for _ in range(6):
            home.vault("user:ann")
        calls: list[str] = []
        sys.setprofile(lambda frame, event, _: calls.append(frame.f_code.co_qualname) if event == "call" else None)
        try:
            home.vault("user:ann")
        finally:
            sys.setprofile(None)
        assert 0 < len(calls) <= 44, calls
