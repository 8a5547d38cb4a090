"""A home that may not be written is refused in a sentence, and nothing is made elsewhere in its place."""

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import Recollectum
from tests.crashes.programs import run

pytestmark = [pytest.mark.process, pytest.mark.slow]

_NOBODY = 65534


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that also an account without privileges can reach, with a filled home in it."""
    folder = Path(tempfile.mkdtemp(prefix="recollectum-"))
    folder.chmod(0o755)
    for name in ("HOME", "XDG_CONFIG_HOME", "RECOLLECTUM_SYSTEM_DIR"):
        monkeypatch.setenv(name, str(folder / "user"))
    with Recollectum(folder / "home") as r:
        r.vault("user:ann").memories.save("something to keep")
    if os.getuid() == 0:
        for path in (folder, *folder.rglob("*")):
            os.chown(path, _NOBODY, _NOBODY)
    yield folder
    for path in (folder, *folder.rglob("*")):
        path.chmod(0o700 if path.is_dir() else 0o600)
    shutil.rmtree(folder)


def _as_nobody(home: Path) -> dict[str, str]:
    (line,) = run("tests.faults.unprivileged_program", str(home), str(_NOBODY))
    return json.loads(line)


def _everything(folder: Path) -> dict[str, bytes]:
    """What the files hold; the empty log and the shared memory that a reader leaves hold nothing."""
    files = [path for path in folder.rglob("*") if path.is_file() and not path.name.endswith("-shm")]
    return {str(path): path.read_bytes() for path in files if path.stat().st_size}


def test_the_program_used_here_can_write_when_it_may(place: Path) -> None:
    assert _as_nobody(place / "home") == {"open": "", "save": "", "recall": "1"}


@pytest.mark.parametrize(
    ("folder", "named"), [("home", "home"), ("home/vaults", "home/vaults"), ("home/locks", "home/locks")]
)
def test_a_folder_of_the_home_that_may_not_be_written_is_one_sentence(place: Path, folder: str, named: str) -> None:
    before = _everything(place)
    (place / folder).chmod(0o500)
    told = _as_nobody(place / "home")
    assert str(place / named) in told["open"]
    assert "correct its owner or mode" in told["open"]
    (place / folder).chmod(0o700)
    assert _everything(place) == before


def test_a_vault_that_may_not_be_written_is_one_sentence_and_is_not_replaced(place: Path) -> None:
    before = _everything(place)
    (path,) = (place / "home" / "vaults").glob("*.db")
    path.chmod(0o400)
    told = _as_nobody(place / "home")
    assert told["open"] == ""
    assert str(path) in told["save"]
    assert "writable" in told["save"]
    assert _everything(place) == before


def test_a_home_where_none_can_be_made_is_one_sentence(place: Path) -> None:
    place.chmod(0o500)
    told = _as_nobody(place / "other")
    assert str(place / "other") in told["open"]
    assert not (place / "other").exists()
