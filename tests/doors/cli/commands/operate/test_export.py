"""Export on the command line: a bundle of one person or of all, plain or encrypted."""

import zipfile
from pathlib import Path

import pytest

from recollectum.upkeep.bundle.container import is_bundle
from tests.doors.cli.calls import ok, refused, spawn

pytestmark = pytest.mark.process


@pytest.fixture
def remembered(home: None) -> str:
    """What ada's vault remembers."""
    ok("remember", "tea is drunk with milk")
    return "tea is drunk with milk"


def test_a_bundle_has_the_user_s_vault_and_says_that_it_is_readable(remembered: str, tmp_path: Path) -> None:
    told = ok("export", str(tmp_path / "bundle.zip"))
    assert "1 vault" in told.out
    assert "not encrypted" in told.err
    with zipfile.ZipFile(tmp_path / "bundle.zip") as archive:
        (page,) = (name for name in archive.namelist() if name.endswith("memories.md"))
        assert remembered in archive.read(page).decode()


def test_all_vaults_go_into_a_folder(remembered: str, tmp_path: Path) -> None:
    ok("users", "add", "ben")
    ok("remember", "ben likes coffee", "--user", "ben")
    assert ok("export", str(tmp_path / "one"), "--json").json["bundle"]["owners"] == ["user:ada"]
    made = ok("export", str(tmp_path / "all"), "--all", "--json").json["bundle"]
    assert made["owners"] == ["user:ada", "user:ben"]
    assert len([*(tmp_path / "all" / "vaults").iterdir()]) == 2
    assert is_bundle(tmp_path / "all")


def test_an_encrypted_bundle_takes_its_passphrase_from_a_pipe(remembered: str, tmp_path: Path) -> None:
    done = spawn("export", str(tmp_path / "hidden.zip"), "--encrypt", stdin=b"four random words here\n")
    assert done.code == 0
    assert "not encrypted" not in done.err
    assert remembered.encode() not in (tmp_path / "hidden.zip").read_bytes()
    assert is_bundle(tmp_path / "hidden.zip")


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("there.tar",), 2, "ends in .zip"),
        (("bundle", "--all", "--owner", "ada"), 2, "contradict"),
        (("bundle", "--owner", "nobody"), 1, "user:nobody"),
        (("taken",), 1, "exists already"),
        (("bad\u0007name",), 2, "cannot be printed"),
    ],
)
def test_a_bad_request_is_refused_in_a_sentence(
    remembered: str, tmp_path: Path, arguments: tuple[str, ...], code: int, words: str
) -> None:
    (tmp_path / "taken").mkdir()
    name, *rest = arguments
    assert words in refused("export", str(tmp_path / name), *rest, code=code)
    assert [path.name for path in tmp_path.iterdir() if path.name in ("bundle", "there.tar")] == []


def _parts(bundle: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(bundle) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def test_a_bundle_of_one_s_own_comes_back_as_it_was_into_a_new_home(remembered: str, tmp_path: Path) -> None:
    ok("sessions", "add", "user", "the kettle is blue")
    ok("export", str(tmp_path / "one.zip"))
    other = str(tmp_path / "other")
    assert ok("import", str(tmp_path / "one.zip"), "--mine", "--dry-run", "--home", other, "--json").json == {
        "found": {"owners": ["user:ada"]}
    }
    told = ok("import", str(tmp_path / "one.zip"), "--mine", "--yes", "--home", other)
    assert "1 vault made again, with 1 memory and 1 message" in told.out
    ok("export", str(tmp_path / "two.zip"), "--home", other)
    assert _parts(tmp_path / "one.zip") == _parts(tmp_path / "two.zip")
    assert remembered in ok("recall", "tea", "--home", other).out
    words = refused("import", str(tmp_path / "one.zip"), "--mine", "--yes", "--home", other)
    assert "not empty" in words


def test_an_encrypted_bundle_comes_back_with_its_passphrase(remembered: str, tmp_path: Path) -> None:
    spawn("export", str(tmp_path / "hidden.zip"), "--encrypt", stdin=b"four random words here\n")
    other, path = str(tmp_path / "other"), str(tmp_path / "hidden.zip")
    assert "--mine" in refused("import", path, "--yes", "--home", other, code=2)
    wrong = refused("import", path, "--mine", "--yes", "--home", other, stdin=b"something else\n")
    assert "does not open with that passphrase" in wrong
    ok("import", path, "--mine", "--yes", "--home", other, stdin=b"four random words here\n")
    assert remembered in ok("recall", "tea", "--home", other).out


def test_somebody_else_s_bundle_arrives_as_imported_text(remembered: str, tmp_path: Path) -> None:
    ok("sessions", "add", "user", "the kettle is blue")
    ok("export", str(tmp_path / "one.zip"))
    ok("export", str(tmp_path / "folder"))
    other = str(tmp_path / "other")
    for path in ("one.zip", "folder"):
        ok("import", str(tmp_path / path), "--yes", "--home", other)
    found = ok("recall", "tea kettle", "--untrusted", "--home", other, "--json").json["hits"]
    assert {hit["text"] for hit in found} == {remembered, "the kettle is blue"}
    assert {hit["trust"] for hit in found} == {"imported"}
