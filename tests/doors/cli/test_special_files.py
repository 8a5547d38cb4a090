"""A pipe, a device, a socket or a folder in place of a file is refused at once, in one sentence."""

import os
import signal
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.doors.cli.calls import call, ok, refused

pytestmark = [pytest.mark.usefixtures("home"), pytest.mark.process]

_COMMANDS = {
    "sessions import": ("sessions", "import"),
    "mcp import-graph": ("mcp", "import-graph"),
    "transcripts follow": ("sessions", "transcripts", "follow"),
    "notes add": ("notes", "add"),
    "restore": ("restore",),
    "receipts verify": ("purge", "receipts", "verify"),
    "policy test": ("policy", "test"),
}
_PATIENCE_SECONDS = 30


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Turns a wait for a pipe into a failure."""

    def stop(*_: object) -> None:
        raise AssertionError("it waited for the file")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(_PATIENCE_SECONDS)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


def _special(kind: str, folder: Path) -> Path:
    path = folder / kind
    match kind:
        case "pipe":
            os.mkfifo(path)
        case "socket":
            with socket.socket(socket.AF_UNIX) as made:
                made.bind(str(path))
        case "folder":
            path.mkdir()
        case _:
            return Path("/dev/zero")
    return path


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        (command, kind)
        for command in sorted(_COMMANDS)
        for kind in ("pipe", "socket", "folder", "device")
        # Folders are followed.
        if kind != "folder" or not command.endswith(("follow", "add"))
    ],
)
def test_what_is_no_regular_file_is_refused_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: str, kind: str
) -> None:
    ok("init")
    monkeypatch.chdir(tmp_path)
    path = _special(kind, tmp_path)
    # A short name: the path of a socket may have 108 bytes only.
    answer = call(*_COMMANDS[command], str(path))
    assert answer.code != 0
    (line,) = answer.err.splitlines()
    assert str(path) in line


def test_a_dash_is_still_stdin() -> None:
    ok("init")
    assert "is not a regular file" not in refused("sessions", "import", "-", stdin=b"no transcript\n")


@pytest.mark.parametrize("text", ["root:x:0:0:root:/root:/bin/sh\n", '{"a": 1}\n', "words\nand words\n"])
def test_a_file_of_no_known_form_is_not_followed(tmp_path: Path, text: str) -> None:
    ok("init")
    path = tmp_path / "passwd"
    path.write_text(text)
    assert "not a transcript of a known form; known are" in refused("sessions", "transcripts", "follow", str(path))
    assert "nothing is followed" in ok("sessions", "transcripts", "list").err


def test_a_file_that_is_still_empty_is_followed(tmp_path: Path) -> None:
    ok("init")
    (tmp_path / "new.jsonl").touch()
    ok("sessions", "transcripts", "follow", str(tmp_path / "new.jsonl"))
