"""`recollectum encryption rekey` shows what it will do, asks, and says what it did."""

import os
from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok, refused


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECTUM_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECTUM_USER", "ann")
    ok("init")
    ok("remember", "Grace is my girlfriend")
    return tmp_path / "home"


def _vault(home: Path) -> Path:
    (path,) = (home / "vaults").glob("*.db")
    return path


def test_a_dry_run_shows_everything_and_changes_nothing(home: Path) -> None:
    backup = ok("backup").out.splitlines()[0]
    ok("backup", "--to", str(home.parent / "stick"))
    before = [_vault(home).read_bytes(), (home / "keys.db").read_bytes()]
    told = ok("encryption", "rekey", "--all", "--master", "--dry-run").out
    assert "1 vault (ann)" in told
    assert f"backup {backup}: has the old keys in it, and can be restored as before" in told
    assert f"backup {backup}: the keys in it are wrapped by the new master key" in told
    assert f"backup elsewhere, not changed: afterwards {home.parent / 'stick'}" in told
    assert [_vault(home).read_bytes(), (home / "keys.db").read_bytes()] == before
    found = ok("encryption", "rekey", "--dry-run", "--json").json
    assert (found["dry_run"], found["vaults"]["owners"], found["master"]) == (True, ["user:ann"], None)


def test_without_a_terminal_it_wants_a_yes(home: Path) -> None:
    before = _vault(home).read_bytes()
    answer = call("encryption", "rekey")
    assert answer.code == 2
    assert "add --yes" in answer.err
    assert _vault(home).read_bytes() == before


@pytest.mark.parametrize("choice", [(), ("--all",), ("--owner", "ann"), ("--user", "ann")])
def test_vaults_get_new_keys_and_keep_their_words(home: Path, choice: tuple[str, ...]) -> None:
    before = _vault(home).read_bytes()
    done = ok("encryption", "rekey", *choice, "--yes")
    assert done.out == "1 vault rewritten under new keys; the old keys are destroyed\n"
    assert _vault(home).read_bytes()[:16] != before[:16]
    assert "Grace is my girlfriend" in ok("recall", "girlfriend").out


def test_a_new_master_key_shows_the_new_recovery_code_once(home: Path) -> None:
    old = ok("encryption", "new-code", "--json").json["recovery_code"]
    found = ok("encryption", "rekey", "--master", "--yes", "--json").json
    code = found["master"]["recovery_code"]
    assert code != old
    assert found["vaults"] is None
    assert "Grace is my girlfriend" in ok("recall", "girlfriend").out
    (key,) = Path(os.environ["XDG_CONFIG_HOME"]).rglob("*.key")
    key.unlink()
    assert "use the newest code" in refused("encryption", "recover", stdin=f"{old}\n".encode())
    ok("encryption", "recover", stdin=f"{code}\n".encode())
    assert "Grace is my girlfriend" in ok("recall", "girlfriend").out


def test_without_a_recovery_code_none_is_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_HOME", str(tmp_path / "home"))
    ok("remember", "the home is made without a recovery code")
    told = ok("encryption", "rekey", "--master", "--yes").out
    assert told.splitlines()[0] == "The home has a new master key; the old one is destroyed."
    assert "There is no recovery code; make one with: recollectum encryption new-code" in told
    assert ok("encryption", "status", "--json").json["encryption"]["recovery_code_made_at"] is None


def test_what_makes_no_sense_is_one_sentence(home: Path) -> None:
    assert "--all and --owner contradict" in refused("encryption", "rekey", "--all", "--owner", "ann", code=2)
    assert "no vault of 'user:zoe'" in refused("encryption", "rekey", "--owner", "zoe", "--yes")


def test_a_home_without_encryption_names_the_cure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECTUM_HOME", str(tmp_path / "plain"))
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    ok("init")
    for choice in ("--all", "--master"):
        told = refused("encryption", "rekey", choice, "--yes")
        assert "this home is not encrypted" in told
        assert "--encrypt --into HOME" in told
