"""Whole-vault commands show on a terminal that they are at work; nowhere else, and not with --json."""

import os
import select
import sys
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from recollectum.doors.cli.main import main
from recollectum.doors.cli.terminal import output
from tests.doors.cli.calls import call, ok

pytestmark = pytest.mark.usefixtures("home")
#: Every command that reads a whole vault or home, with the words of its bar.
_COMMANDS: dict[tuple[str, ...], str] = {
    ("doctor",): "examining the home",
    ("repair", "--force", "--yes"): "repairing the vault",
    ("upgrade",): "upgrading vaults",
    ("backup",): "backing up",
    ("index", "rebuild"): "building the index",
    ("index", "verify"): "comparing the index",
    ("lifecycle", "run", "--yes"): "taking the steps",
    ("consolidate",): "reading conversations",
    ("purge", "older-than", "400", "--yes"): "erasing",
    ("purge", "finish"): "erasing",
    ("undo", "diff", "--since", "2020-01-01"): "comparing memories",
    ("memories", "as-of", "2020-01-01"): "reading the history",
    ("review", "grow"): "comparing memories",
}


@contextmanager
def _terminal(monkeypatch: pytest.MonkeyPatch) -> Generator[list[str]]:
    """Make stderr a terminal; the list gets what it showed."""
    master, slave = os.openpty()
    shown: list[str] = []
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with os.fdopen(slave, "w") as screen:
        monkeypatch.setattr(sys, "stderr", screen)
        try:
            yield shown
        finally:
            screen.flush()
            os.set_blocking(master, False)
            shown.append(os.read(master, 1 << 20).decode(errors="replace") if _has_input(master) else "")
            monkeypatch.undo()
            os.close(master)


def _has_input(master: int) -> bool:
    return bool(select.select([master], [], [], 0)[0])


@pytest.mark.parametrize("arguments", _COMMANDS, ids=" ".join)
def test_a_command_over_the_whole_vault_shows_that_it_is_at_work(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ok("remember", "Grace plays the piano")
    with _terminal(monkeypatch) as shown:
        main(arguments)
    assert _COMMANDS[arguments] in shown[0]
    # The answer itself has nothing of the bar.
    assert _COMMANDS[arguments] not in capsys.readouterr().out


def test_a_restore_shows_that_it_is_at_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ok("remember", "Grace plays the piano")
    made = ok("backup", "--json").json["backup"]
    with _terminal(monkeypatch) as shown:
        main(("restore", made, "--home", str(tmp_path / "other")))
    assert "restoring" in shown[0]


@pytest.mark.parametrize("arguments", [("doctor",), ("index", "rebuild"), ("backup",)], ids=" ".join)
def test_nothing_is_shown_with_json_or_without_a_terminal(
    arguments: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ok("remember", "Grace plays the piano")
    words = _COMMANDS[arguments]
    with _terminal(monkeypatch) as shown:
        main((*arguments, "--json"))
    assert words not in shown[0]
    monkeypatch.setattr(output, "PATIENCE", 0.0)
    assert words not in call(*arguments).err
