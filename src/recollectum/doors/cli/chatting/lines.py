"""What the person types, line by line, and the questions they are asked."""

import sys
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.asking import binary_stdin
from recollectum.doors.cli.visible import visible

#: Asks one line; None when there is nobody left to ask.
Ask = Callable[[str], str | None]


class Lines:
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


def answer_to(ask: Ask, question: str) -> str:
    """What the person types to a question; nothing when there is nobody."""
    return (ask(question) or "").strip()


def agreed(ask: Ask, question: str) -> bool:
    """Whether the person says yes; everything else is no."""
    return answer_to(ask, f"{question} [y/N] ").casefold() in ("y", "yes")
