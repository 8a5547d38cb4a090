"""Nothing leaks: every owner, caller, state and operation, against what the rules say."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from recollectum.domain.errors import NotFound
from tests.matrix.homes import Turning, copy_home, open_home, quick_folder
from tests.matrix.runner import ALL
from tests.matrix.world import build
from tests.plugins.engines import databases_until

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def kept() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


_worlds: dict[str, Path] = {}


@pytest.fixture
def world(kept: ExitStack, engine: str) -> Path:
    """A world on one engine, which is built once and which nobody changes."""
    if engine not in _worlds:
        folder = kept.enter_context(quick_folder())
        with databases_until(kept):
            build(folder)
        _worlds[engine] = folder
        kept.callback(_worlds.clear)
    return _worlds[engine]


@pytest.mark.feature("P7")
@pytest.mark.feature("A12")
@pytest.mark.feature("M5")
@pytest.mark.feature("M6")
@pytest.mark.parametrize("name", ALL)
def test_nothing_leaks(world: Path, place: Path, name: str) -> None:
    findings = list(ALL[name](copy_home(world, place / "world")))
    assert not findings, "\n".join(findings)


@pytest.mark.feature("P7")
def test_an_encrypted_home_keeps_people_as_far_apart(place: Path) -> None:
    with open_home(place, Turning(), encryption="auto") as home:
        for name in ("alice", "bob"):
            vault = home.vault(f"user:{name}")
            vault.memories.save(f"canary of {name}", key="canary")
            vault.sessions.open().add("user", f"canary said by {name}")
        secret = home.keys.add("user:bob")[1]
    with open_home(place, Turning(), encryption="auto", api_key=secret) as bob:
        texts = [hit.text for hit in bob.vault("user:bob").recall("canary")]
        assert sorted(texts) == ["canary of bob", "canary said by bob"]
        with pytest.raises(NotFound):
            bob.vault("user:alice")
    files = [path for path in (place / "home").rglob("*") if path.is_file()]
    assert len([path for path in files if path.suffix == ".db"]) >= 3
    assert not [path for path in files if b"canary" in path.read_bytes()]
