"""Reads the lines a person types, and streams replies to stdout."""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.prompts import binary_stdin
from recollectum.doors.cli.terminal.sanitise import visible

#: Asks for one line; None at the end of the input.
Ask = Callable[[str], str | None]


class InputLines:
    """Lines of a terminal, with a history on the arrow keys; or of a pipe."""

    def __init__(self) -> None:
        self._terminal = sys.stdin.isatty() and sys.stdout.isatty()
        if self._terminal:
            with suppress(ImportError):
                # Not every system has it; importing it gives `input` a history, which is never written to disk.
                import_module("readline")

    def ask(self, prompt: str) -> str | None:
        """Return the next line; None at the end of the input. Ctrl-C drops the line."""
        try:
            return self._typed(prompt) if self._terminal else self._piped()
        except KeyboardInterrupt:
            print()
            return ""

    def _typed(self, prompt: str) -> str | None:
        try:
            return input(visible(prompt))
        except EOFError:
            print()
            return None
        except UnicodeDecodeError:
            raise InvalidInput("that line is not UTF-8; type it in that encoding") from None

    def _piped(self) -> str | None:
        data = binary_stdin().readline()
        if not data:
            return None
        try:
            return data.decode().removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError:
            raise InvalidInput("a line of stdin is not UTF-8; write it in that encoding") from None


def ask_text(ask: Ask, question: str) -> str:
    """Return what the person types; empty when nobody is there."""
    return (ask(question) or "").strip()


def ask_yes_no(ask: Ask, question: str) -> bool:
    """Return whether the person says yes; anything else is no."""
    return ask_text(ask, f"{question} [y/N] ").casefold() in ("y", "yes")


class StdoutSink:
    """Writes a reply to stdout piece by piece."""

    def __init__(self) -> None:
        self._line_is_open = False

    def piece(self, text: str) -> None:
        """Write a part of the reply, with control characters escaped."""
        sys.stdout.write(visible(text))
        sys.stdout.flush()
        self._line_is_open = not text.endswith("\n")

    def end(self) -> None:
        """End the reply."""
        if self._line_is_open:
            print(flush=True)
        self._line_is_open = False


class NullSink:
    """Shows nothing, for a program that waits for the whole reply."""

    def piece(self, text: str) -> None:
        """Ignore the part."""

    def end(self) -> None:
        """Do nothing."""
