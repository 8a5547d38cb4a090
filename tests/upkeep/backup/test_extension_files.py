"""A backup of the whole home has its extensions, and a restore brings them back as they were agreed to."""

import json
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from recollectum import ExtensionState, Recollectum
from recollectum.domain.errors import Conflict, Damaged
from recollectum.home.paths import Home
from recollectum.upkeep.backup.backup import back_up
from recollectum.upkeep.backup.manifest_file import NAME
from recollectum.upkeep.backup.restore import restore_home
from tests.home.extensions.samples import write_folder
from tests.matrix.homes import Turning, open_home, quick_folder
from tests.upkeep.homes import ANN, filled, opening


@pytest.fixture
def place() -> Iterator[Path]:
    with quick_folder() as folder:
        yield folder


def _backed_up(place: Path, encryption: str = "auto") -> Path:
    with filled(place / "here", owners=(ANN,), encryption=encryption) as home:
        source = write_folder(place / "source")
        (source / "server.js").chmod(0o755)
        home.extensions.install(source, home.extensions.preview(source).token)
        home.extensions.switch("weather", enabled=False)
        write_folder(home.home.root / "extensions/copied")
        return back_up(home.admin, to=place / "stick").path


def _states(home: Recollectum) -> dict[str, ExtensionState]:
    return {one.name: one.state for one in home.extensions.list()}


@pytest.mark.feature("C11")
@pytest.mark.parametrize("encryption", ["auto", "off"])
def test_extensions_come_back_as_they_were_agreed_to(place: Path, encryption: str) -> None:
    made = _backed_up(place, encryption)
    assert [one["file"] for one in json.loads((made / NAME).read_text("utf-8"))["archives"]] == ["extensions.tar"]
    (place / "here/home").rename(place / "lost")
    restore_home(Home(place / "here/home"), made, opening(place / "here"))
    with open_home(place / "here", Turning(), encryption=encryption) as home:
        # What nobody agreed to is in no backup.
        assert _states(home) == {"weather": ExtensionState.DISABLED}
        assert home.extensions.switch("weather", enabled=True).state is ExtensionState.ENABLED
        found = Path(home.extensions.get("weather").folder)
    modes = {path.name: path.stat().st_mode & 0o777 for path in found.rglob("*")}
    assert (modes["server.js"], modes["CONTEXT.md"], modes["policies"]) == (0o700, 0o600, 0o700)


def test_extensions_that_are_there_are_replaced_only_when_asked(place: Path) -> None:
    made = _backed_up(place)
    (place / "here/home").rename(place / "lost")
    write_folder(place / "here/home/extensions/mine")
    with pytest.raises(Conflict, match=r"extensions exists already; add --replace to move it away"):
        restore_home(Home(place / "here/home"), made, opening(place / "here"))
    restored = restore_home(Home(place / "here/home"), made, opening(place / "here"), replace=True)
    (kept,) = restored.kept
    assert (kept / "mine/recollectum-extension.json").exists()


def test_a_tampered_archive_is_refused_and_nothing_is_changed(place: Path) -> None:
    made = _backed_up(place)
    (place / "here/home").rename(place / "lost")
    archive = made / "extensions.tar"
    whole = archive.read_bytes()
    archive.write_bytes(whole.replace(b"// a server", b"// another!"))
    with pytest.raises(Damaged, match=r"extensions\.tar is not what was backed up"):
        restore_home(Home(place / "here/home"), made, opening(place / "here"))
    assert not (place / "here/home/catalog.db").exists()
    assert not (place / "here/home/extensions").exists()
    assert tarfile.is_tarfile(archive)


def test_a_damaged_register_does_not_prevent_a_backup(place: Path) -> None:
    with filled(place, owners=(ANN,)) as home:
        write_folder(home.home.root / "extensions", {"installed.json": "{"})
        made = back_up(home.admin).path
    assert "archives" not in json.loads((made / NAME).read_text("utf-8"))
