"""Asks a person for a yes, a secret, a text on stdin, or a text in their own editor."""

import shlex
import sys
from collections.abc import Mapping
from io import BufferedReader
from pathlib import Path
from typing import TextIO, cast

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.sanitise import visible

_MOST_BYTES = 64 * 2**20


def is_interactive() -> bool:
    """Whether there is somebody to ask."""
    return _has_stdin() and sys.stdin.isatty()


def confirm(what: str, *, yes: bool) -> bool:
    """Whether to go on: told beforehand by --yes, else asked; without a terminal there must have been a --yes."""
    if yes:
        return True
    if not is_interactive():
        raise Misuse(f"{what}, and there is no terminal to ask on; add --yes to do it")
    print(visible(f"{what}. Go on? [y/N] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def read_text_or_stdin(text: str) -> str:
    """The text itself, or all of stdin for `-`."""
    if text != "-":
        return text
    data = binary_stdin().read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InvalidInput(f"stdin holds more than {_MOST_BYTES // 2**20} MiB; give a shorter text")
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidInput("stdin is not UTF-8; write it in that encoding") from None


def ask_secret(prompt: str) -> str:
    """A line that is not shown while it is typed; from a pipe, the next line of it."""
    if not is_interactive():
        return sys.stdin.readline().rstrip("\r\n") if _has_stdin() else ""
    # It loads termios, which is of no use to any other command.
    from getpass import getpass  # noqa: PLC0415

    return getpass(f"{prompt}: ", sys.stderr)


def ask_new_passphrase() -> str:
    """A passphrase for the first time, typed twice where there is a terminal."""
    first = ask_secret("New passphrase")
    if not first.strip():
        raise InvalidInput("the passphrase is empty; give one of several words")
    if is_interactive() and ask_secret("The same again") != first:
        raise InvalidInput("the two passphrases differ; try again")
    return first


def binary_stdin() -> BufferedReader:
    """Stdin as bytes."""
    if not _has_stdin():
        raise InvalidInput("stdin is closed, so nothing can be read from it; give it a pipe or a file")
    return cast("BufferedReader", sys.stdin.buffer)


def _has_stdin() -> bool:
    """Who starts a program with its stdin closed leaves it none at all."""
    return cast("TextIO | None", sys.stdin) is not None


def edit_text(text: str, environ: Mapping[str, str]) -> str:
    """The text as the editor left it; nothing of it stays outside the vault."""
    # Only the commands that open an editor need them.
    import subprocess  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    command = _editor(environ)
    # The run-time folder is in memory and private; an editor's own backup files go with the folder.
    with tempfile.TemporaryDirectory(prefix="recollectum-", dir=_memory_folder(environ)) as folder:
        path = Path(folder) / "memory.txt"
        path.write_text(text, encoding="utf-8", newline="")
        try:
            done = subprocess.run([*command, str(path)], check=False)
        except OSError as error:
            raise InvalidInput(f"the editor {command[0]!r} cannot be started ({error.strerror}); set EDITOR") from error
        if done.returncode:
            raise InvalidInput(f"the editor ended with {done.returncode}; nothing was changed")
        return _read_edited(path)


def _editor(environ: Mapping[str, str]) -> list[str]:
    chosen = environ.get("VISUAL") or environ.get("EDITOR") or ""
    try:
        words = shlex.split(chosen)
    except ValueError:
        words = []
    if not words:
        raise Misuse("no editor is named; give the new text on the command line, or set EDITOR")
    return words


def _memory_folder(environ: Mapping[str, str]) -> str | None:
    named = environ.get("XDG_RUNTIME_DIR", "")
    return named if named and Path(named).is_dir() else None


def _read_edited(path: Path) -> str:
    try:
        # Editors end a file with a newline that nobody typed.
        return path.read_bytes().decode().removesuffix("\n").removesuffix("\r")
    except (FileNotFoundError, UnicodeDecodeError):
        raise InvalidInput("the editor left no UTF-8 text behind; nothing was changed") from None
