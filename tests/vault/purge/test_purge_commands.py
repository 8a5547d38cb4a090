"""`recollectum purge` and its receipts: asked first, answered with a receipt, and checked by anybody."""

import json
from pathlib import Path

import pytest

from recollectum import Recollectum
from recollectum.doors.cli.main import main

pytestmark = pytest.mark.process

_SECRET = "wqzkvbtrnx"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("RECOLLECTUM_ENCRYPTION", "off")
    monkeypatch.setenv("RECOLLECTUM_USER", "ann")
    monkeypatch.setenv("RECOLLECTUM_HOME", str(tmp_path / "home"))
    with Recollectum(tmp_path / "home") as opened:
        chat = opened.vault("user:ann").sessions.open(channel="test", agent="main")
        chat.add("user", f"it is {_SECRET} and private")
    return tmp_path / "home"


def _session(home: Path) -> str:
    with Recollectum(home) as opened:
        return opened.vault("user:ann").sessions.list()[0].id


@pytest.mark.feature("P9")
def test_without_a_yes_nothing_goes(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = _session(home)
    assert main(["purge", "session", session]) == 2
    assert "Nothing was erased. This would permanently erase 1 session and" in capsys.readouterr().err
    assert main(["purge", "user", "ann"]) == 2
    assert "Nothing was erased. This would permanently erase ann; add --yes to confirm." in capsys.readouterr().err
    assert main(["purge", "session", session, "--dry-run", "--json"]) == 0
    seen = json.loads(capsys.readouterr().out)["preview"]
    assert (seen["counts"]["messages"], seen["counts"]["sessions"]) == (1, 1)
    assert _session(home) == session


@pytest.mark.feature("P9")
def test_a_receipt_is_shown_exported_and_checked(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["purge", "session", _session(home), "--yes"]) == 0
    shown = capsys.readouterr().out
    assert "done" in shown
    assert main(["purge", "receipts", "list", "--json"]) == 0
    (listed,) = json.loads(capsys.readouterr().out)["receipts"]
    assert main(["purge", "receipts", "show", listed["id"], "--json"]) == 0
    exported = tmp_path / "receipt.json"
    exported.write_text(capsys.readouterr().out)
    assert main(["purge", "receipts", "verify", str(exported)]) == 0
    assert main(["purge", "receipts", "verify"]) == 0
    assert main(["purge", "receipts", "key"]) == 0
    assert listed["public_key"] in capsys.readouterr().out
    changed = json.loads(exported.read_text())
    changed["receipt"]["counts"]["messages"] = 0
    exported.write_text(json.dumps(changed))
    assert main(["purge", "receipts", "verify", str(exported)]) == 1
    assert "changed, or not from this home" in capsys.readouterr().out


@pytest.mark.feature("M9")
def test_a_person_goes_by_name(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["purge", "user", "ann", "--yes", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["receipt"]["state"] == "done"
    assert main(["purge", "user", "ann", "--yes"]) == 1
    assert "there is no user 'ann'" in capsys.readouterr().err
    with Recollectum(home) as opened:
        assert opened.list_owners() == []


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (["memory", "mem_none"], "there is no memory 'mem_none'"),
        (["older-than", "0"], "0 days are not allowed"),
        (["source", "/nowhere"], "is not followed in this vault"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_a_sentence(
    home: Path, capsys: pytest.CaptureFixture[str], line: list[str], sentence: str
) -> None:
    assert main(["purge", *line, "--yes"]) == 1
    assert sentence in capsys.readouterr().err
    assert _session(home)


@pytest.mark.feature("P9")
def test_what_a_quarantine_set_aside_is_destroyed_as_the_command_advises(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["quarantine", "put", "agent:main", "--yes"]) == 0
    advice = next(line for line in capsys.readouterr().err.splitlines() if "to destroy it: " in line)
    line = advice.partition("to destroy it: recollectum ")[2].split()
    assert line[:2] == ["purge", "source"]
    assert main([*line, "--yes", "--json"]) == 0
    made = json.loads(capsys.readouterr().out)["receipt"]
    assert (made["state"], made["counts"]["messages"]) == ("done", 1)
    assert not any(_SECRET.encode() in path.read_bytes() for path in home.rglob("*") if path.is_file())


def test_there_may_be_nothing_to_finish(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["purge", "finish"]) == 0
    assert "no purge is unfinished" in capsys.readouterr().err
    assert home.exists()
