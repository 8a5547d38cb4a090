"""Asks a person for a yes, a secret, a text on stdin, or a text in their own editor."""

import shlex
import sys
from collections.abc import Mapping, Sequence
from io import BufferedReader
from pathlib import Path
from typing import TextIO, cast

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.output import note
from recollectum.doors.cli.terminal.sanitise import visible

_MOST_BYTES = 64 * 2**20
#: A shorter passphrase can be guessed by somebody who has the files, however much each guess costs.
LEAST_PASSPHRASE = 12


def is_interactive() -> bool:
    """Return whether there is a terminal to ask on."""
    return _has_stdin() and sys.stdin.isatty()


def confirm(what: str, *, yes: bool, refusal: str = "") -> bool:
    """Return whether to go on: confirmed by --yes, else asked; without a terminal --yes is required.

    `refusal` replaces the sentence that says so.
    """
    if yes:
        return True
    if not is_interactive():
        words = f"nothing was done: {what}; there is no terminal to ask on, so add --yes to confirm"
        raise Misuse(refusal or words)
    return ask(f"{what}. Continue?")


def ask(question: str) -> bool:
    """Ask a question on the terminal; return whether the answer is yes."""
    print(visible(f"{question} [y/N] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def read_text_or_stdin(text: str) -> str:
    """Return the text itself, or all of stdin for `-`."""
    if text != "-":
        return text
    data = binary_stdin().read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        raise InvalidInput(f"stdin holds more than {_MOST_BYTES // 2**20} MiB; give a shorter text")
    try:
        return data.decode().removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError:
        raise InvalidInput("stdin is not UTF-8; write it in that encoding") from None


def read_words_or_stdin(words: Sequence[str]) -> str:
    """Return the words of a line as one text, so that it needs no quotes; or all of stdin for `-`."""
    return read_text_or_stdin(" ".join(words))


def ask_secret(prompt: str) -> str:
    """Read a line without echo; from a pipe, its next line."""
    if not is_interactive():
        return sys.stdin.readline().rstrip("\r\n") if _has_stdin() else ""
    # It imports termios, which no other command needs.
    from getpass import getpass  # noqa: PLC0415

    return getpass(f"{prompt}: ", sys.stderr)


def ask_new_passphrase() -> str:
    """Ask for a new passphrase, typed twice on a terminal."""
    first = ask_secret("New passphrase")
    if not first.strip():
        raise InvalidInput("the passphrase is empty; give one of several words")
    if is_interactive() and ask_secret("Repeat it") != first:
        raise InvalidInput("the two passphrases differ; try again")
    warn_of_short_passphrase(first)
    return first


def warn_of_short_passphrase(passphrase: str) -> None:
    """Tell when a new passphrase is so short that it can be guessed."""
    if len(passphrase) < LEAST_PASSPHRASE:
        note(
            f"warning: this passphrase has {len(passphrase)} characters; somebody with the files could guess it. "
            f"Use {LEAST_PASSPHRASE} or more, such as four random words: recollectum encryption passphrase"
        )


def binary_stdin() -> BufferedReader:
    """Return stdin as bytes."""
    if not _has_stdin():
        raise InvalidInput("stdin is closed, so nothing can be read from it; give it a pipe or a file")
    return cast("BufferedReader", sys.stdin.buffer)


def _has_stdin() -> bool:
    """Return whether there is a stdin: a program started with it closed has none."""
    return cast("TextIO | None", sys.stdin) is not None


def edit_text(text: str, environ: Mapping[str, str]) -> str:
    """Open the text in an editor and return the result; no copy stays outside the vault."""
    # Imported here: only commands that open an editor need them.
    import subprocess  # noqa: PLC0415
    import tempfile  # noqa: PLC0415

    command = _editor(environ)
    # The run-time folder is in memory and private; an editor's backup files are deleted with it.
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
        # Editors add a final newline that nobody typed.
        return path.read_bytes().decode().removesuffix("\n").removesuffix("\r")
    except (FileNotFoundError, UnicodeDecodeError):
        raise InvalidInput("the editor left no UTF-8 text behind; nothing was changed") from None
