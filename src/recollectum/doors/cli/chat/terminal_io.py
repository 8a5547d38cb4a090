"""Reads the lines a person types, and streams replies to stdout."""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.prompts import binary_stdin
from recollectum.doors.cli.terminal.sanitise import visible

#: Asks one line; None when there is nobody left to ask.
Ask = Callable[[str], str | None]


class InputLines:
    """Lines of a terminal, with those typed before at the arrow keys; or of a pipe."""

    def __init__(self) -> None:
        self._terminal = sys.stdin.isatty() and sys.stdout.isatty()
        if self._terminal:
            with suppress(ImportError):
                # Not every system has it; its import alone gives `input` the history, which is never written down.
                import_module("readline")

    def ask(self, prompt: str) -> str | None:
        """The next line; None at the end of the input. Ctrl-C drops the line."""
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
    """What the person types to a question; nothing when there is nobody."""
    return (ask(question) or "").strip()


def ask_yes_no(ask: Ask, question: str) -> bool:
    """Whether the person says yes; everything else is no."""
    return ask_text(ask, f"{question} [y/N] ").casefold() in ("y", "yes")


class StdoutSink:
    """Shows a reply piece by piece."""

    def __init__(self) -> None:
        self._line_is_open = False

    def piece(self, text: str) -> None:
        """A part of the reply, so that nothing a model says can act on a terminal."""
        sys.stdout.write(visible(text))
        sys.stdout.flush()
        self._line_is_open = not text.endswith("\n")

    def end(self) -> None:
        """No more comes of it."""
        if self._line_is_open:
            print(flush=True)
        self._line_is_open = False


class NullSink:
    """Shows nothing, where a program waits for the whole."""

    def piece(self, text: str) -> None:
        """Not shown."""

    def end(self) -> None:
        """Nothing to end."""
