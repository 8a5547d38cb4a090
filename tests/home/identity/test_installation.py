"""The id of an installation: made once, by whoever asks first, and never replaced."""

import json
import stat
import threading
from pathlib import Path

import pytest

from recollectum.domain.errors import Damaged, SchemaNewer
from recollectum.home.identity.installation import Installation, installation
from recollectum.home.paths import Home, prepare


@pytest.fixture
def home(tmp_path: Path) -> Home:
    made = Home(tmp_path / "home")
    prepare(made)
    return made


def test_it_is_made_once_and_private(home: Home, tmp_path: Path) -> None:
    first = installation(home)
    assert installation(home) == first
    assert stat.S_IMODE(home.installation_file.stat().st_mode) == 0o600
    other = Home(tmp_path / "other")
    prepare(other)
    assert installation(other).id != first.id
    assert [path.name for path in home.root.iterdir() if path.is_file()] == ["installation.json"]


def test_all_who_ask_at_once_get_the_same_one(home: Home) -> None:
    found: list[Installation] = []
    threads = [threading.Thread(target=lambda: found.append(installation(home))) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(found) == 8
    assert len(set(found)) == 1


def test_fields_of_a_newer_program_stay(home: Home) -> None:
    first = installation(home)
    fields = json.loads(home.installation_file.read_bytes())
    written = json.dumps({**fields, "channel": "beta"}).encode()
    home.installation_file.write_bytes(written)
    assert installation(home) == first
    assert home.installation_file.read_bytes() == written


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b'{"format": "recollectum-installation", "version": 2, "key": "x"}', SchemaNewer),
        (b"", Damaged),
        (b"{", Damaged),
        (b"[1]", Damaged),
        (b"[" * 10_000, Damaged),
        (b"\xff" * 40, Damaged),
        (b" " * 20_000, Damaged),
        (b'{"format": "other", "version": 1, "id": "x", "made_at": "2026-01-01"}', Damaged),
        (b'{"format": "recollectum-installation", "version": 1, "id": "../../x", "made_at": "2026-01-01"}', Damaged),
        (b'{"format": "recollectum-installation", "version": true}', Damaged),
    ],
)
def test_what_cannot_be_read_is_told_and_kept(home: Home, content: bytes, error: type[Exception]) -> None:
    home.installation_file.write_bytes(content)
    with pytest.raises(error, match="nothing was changed") as told:
        installation(home)
    assert len(str(told.value).splitlines()) == 1
    assert home.installation_file.read_bytes() == content


def test_a_folder_in_its_place_is_told(home: Home) -> None:
    home.installation_file.mkdir()
    with pytest.raises(Damaged, match="nothing was changed"):
        installation(home)
