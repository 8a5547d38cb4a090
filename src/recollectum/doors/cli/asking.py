"""What a person is asked for: yes or no, a secret, or a text on stdin."""

import sys
from io import BufferedReader
from typing import TextIO, cast

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.edge import Misuse
from recollectum.doors.cli.visible import visible

_MOST_BYTES = 64 * 2**20


def on_terminal() -> bool:
    """Whether there is somebody to ask."""
    return _has_stdin() and sys.stdin.isatty()


def confirm(what: str, *, yes: bool) -> bool:
    """Whether to go on: told beforehand by --yes, else asked; without a terminal there must have been a --yes."""
    if yes:
        return True
    if not on_terminal():
        raise Misuse(f"{what}, and there is no terminal to ask on; add --yes to do it")
    print(visible(f"{what}. Go on? [y/N] "), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def text_or_stdin(text: str) -> str:
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


def secret(prompt: str) -> str:
    """A line that is not shown while it is typed; from a pipe, the next line of it."""
    if not on_terminal():
        return sys.stdin.readline().rstrip("\r\n") if _has_stdin() else ""
    # It loads termios, which is of no use to any other command.
    from getpass import getpass  # noqa: PLC0415

    return getpass(f"{prompt}: ", sys.stderr)


def new_passphrase() -> str:
    """A passphrase for the first time, typed twice where there is a terminal."""
    first = secret("New passphrase")
    if not first.strip():
        raise InvalidInput("the passphrase is empty; give one of several words")
    if on_terminal() and secret("The same again") != first:
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
