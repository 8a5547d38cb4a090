"""Backup, restore, verify, doctor and repair on the command line."""

import json
import os
from pathlib import Path

import pytest

from recollectum.home.paths import Home, home_root
from recollectum.storage.sqlite.connection import PAGE_BYTES
from recollectum.storage.sqlite.files import HomeFiles
from tests.doors.cli.calls import call, ok, refused, spawn

pytestmark = pytest.mark.process


@pytest.fixture
def remembered(home: None) -> str:
    """What ada's vault remembers."""
    ok("remember", "tea is drunk with milk")
    return "tea is drunk with milk"


def _home() -> Home:
    return Home(home_root(None, os.environ))


def _vault_file() -> Path:
    (path,) = _home().vaults.glob("*.db")
    return path


def test_a_backup_is_restored_into_another_home(remembered: str, tmp_path: Path) -> None:
    made = ok("backup", "--to", str(tmp_path / "stick"), "--json").json
    assert made["verified"] is True
    assert Path(made["backup"]).parent == tmp_path / "stick"
    told = ok("restore", made["backup"], "--into", str(tmp_path / "other"))
    assert "1 vault restored" in told.out
    assert remembered in ok("recall", "tea", "--home", str(tmp_path / "other")).out


def test_a_home_is_encrypted_or_decrypted_on_its_way_back(remembered: str, tmp_path: Path) -> None:
    made = ok("backup", "--to", str(tmp_path / "stick")).out.splitlines()[0]
    for option, encrypted in (("--decrypt", False), ("--encrypt", True)):
        other = str(tmp_path / option)
        told = ok("restore", made, option, "--into", other, "--json")
        assert told.json["encrypted"] is encrypted
        assert ("It is not encrypted" in told.err) is not encrypted
        assert remembered in ok("recall", "tea", "--home", other).out
        made = ok("backup", "--home", other, "--to", str(tmp_path / f"stick{option}")).out.splitlines()[0]
        told = ok("restore", made, "--into", f"{other}-again", "--json")
        assert told.json["authenticated"] is encrypted
        assert ("The backup is not authenticated" in told.err) is not encrypted
    assert "are for a whole new home" in refused("restore", made, "--encrypt", "--replace", code=2)


def test_a_plain_backup_is_taken_where_encryption_is_on_only_when_told_to(
    remembered: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = ok("backup", "--to", str(tmp_path / "stick")).out.splitlines()[0]
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "auto")
    other = str(tmp_path / "other")
    assert "is not authenticated" in refused("restore", made, "--into", other)
    assert not Path(other, "catalog.db").exists()
    told = ok("restore", made, "--into", other, "--unauthenticated", "--json")
    assert told.json["authenticated"] is False
    assert "The backup is not authenticated" in told.err
    assert remembered in ok("recall", "tea", "--home", other).out


def test_a_folder_with_backups_names_them(remembered: str, tmp_path: Path) -> None:
    made = ok("backup", "--to", str(tmp_path / "stick")).out.splitlines()[0]
    assert f"name one of them: {Path(made).name}" in refused("restore", str(tmp_path / "stick"))


def test_one_vault_goes_into_a_home_of_its_own(remembered: str, tmp_path: Path) -> None:
    ok("users", "add", "ben")
    made = ok("backup", "--owner", "ada", "--to", str(tmp_path / "ada.tar")).out.splitlines()[0]
    assert made == str(tmp_path / "ada.tar")
    ok("restore", made, "--into", str(tmp_path / "other"), "--owner", "ada")
    assert remembered in ok("recall", "tea", "--home", str(tmp_path / "other")).out
    assert "ben" not in ok("users", "list", "--home", str(tmp_path / "other")).out


def test_a_living_vault_is_replaced_only_when_told_to(remembered: str, tmp_path: Path) -> None:
    made = ok("backup").out.splitlines()[0]
    ok("remember", "coffee is drunk black")
    assert "--replace" in refused("restore", made)
    told = ok("restore", made, "--replace", "--json").json
    assert told["restored"] == ["user:ada"]
    assert len(told["kept"]) == 1
    assert "coffee" not in ok("memories", "list").out
    assert "there is no backup" in refused("restore", str(tmp_path / "none"), "--replace")
    assert "is not a backup" in refused("restore", str(tmp_path), "--replace")


def test_contradictions_and_strangers_are_refused(remembered: str) -> None:
    assert "contradict" in refused("backup", "--all", "--owner", "ada", code=2)
    assert "user:zoe" in refused("backup", "--owner", "zoe")
    assert "not in that backup" in refused("restore", ok("backup").out.splitlines()[0], "--owner", "zoe", "--replace")


def test_damage_is_verified_explained_and_repaired(remembered: str) -> None:
    for number in range(3):
        ok("remember", f"number {number} of the things to keep")
    assert call("doctor", "--deep", "--json").json["severity"] == "warning"
    path = _vault_file()
    raw = bytearray(path.read_bytes())
    at = raw.index(b"number 1 of the things")
    raw[at // PAGE_BYTES * PAGE_BYTES : at // PAGE_BYTES * PAGE_BYTES + 8] = bytes(8)
    path.write_bytes(raw)
    found = call("doctor", "--deep", "--json")
    assert (found.code, found.json["severity"]) == (1, "problem")
    cures = [one["cure"] for one in found.json["findings"] if one["topic"] == "vault of user:ada"]
    assert "recollectum repair --user user:ada" in cures[0]
    assert "--yes" in refused("repair", code=2)
    done = ok("repair", "--yes", "--json").json
    assert done["lost"] > 0
    assert Path(done["repair"]["evidence"], path.name).read_bytes() == bytes(raw)
    assert call("doctor", "--deep", "--json").json["severity"] == "warning"
    assert "nothing is wrong" in ok("repair", "--yes").out


def test_the_doctor_answers_by_severity(remembered: str, tmp_path: Path) -> None:
    told = call("doctor", "--json")
    # It is not encrypted, in these tests.
    assert (told.code, told.json["severity"]) == (3, "warning")
    assert "telemetry: none" in call("doctor").out
    _vault_file().write_bytes(b"rubbish" * 1000)
    sick = call("doctor")
    assert sick.code == 1
    assert "problem" in sick.out
    assert "there is no home" in refused("doctor", "--home", str(tmp_path / "none"))


def test_in_a_process_of_its_own_the_doctor_finds_a_catalog_that_is_gone(remembered: str) -> None:
    HomeFiles(_home()).catalog.unlink()
    told = spawn("doctor", "--json")
    assert told.code == 1
    assert json.loads(told.out)["severity"] == "problem"
