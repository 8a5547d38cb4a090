"""Turns every failure into one sentence on stderr and an exit code, never into a traceback."""

import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

import typer

from recollectum.domain.errors import ManifestError, RecollectumError, SettingsError
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.home.paths import Home, home_root

_HOME = "--home"


class UnexpectedError(Exception):
    """A fault of ours, without the text of the error, which may contain content."""


def log_unexpected(error: Exception, arguments: Sequence[str], environ: Mapping[str, str]) -> UnexpectedError:
    """Log the places of the error in the home's log, if there is a home; return the error to show."""
    # Imported here: usually there is nothing to log.
    from recollectum.home.logs import Log, places  # noqa: PLC0415

    last = (list(places(error)) or ["nowhere"])[-1]
    with suppress(RecollectumError, OSError):
        home = Home(home_root(_named(arguments), environ))
        if home.root.is_dir():
            log = Log(home, _level(home, environ))
            log.failure("cli.unexpected", error)
            log.close()
    return UnexpectedError(
        f"this is a fault in Recollectum: {type(error).__name__} at {last}; please report that place"
    )


def _named(arguments: Sequence[str]) -> Path | None:
    for place, argument in enumerate(arguments):
        if argument == _HOME and place + 1 < len(arguments):
            return Path(arguments[place + 1])
        if argument.startswith(f"{_HOME}="):
            return Path(argument.partition("=")[2])
    return None


def _level(home: Home, environ: Mapping[str, str]) -> str:
    from recollectum.settings.load import load  # noqa: PLC0415 - see above

    try:
        return load(home, cwd=Path.cwd(), environ=environ).settings.log.level
    except RecollectumError:
        return "error"


FAILED = 1
MISUSED = 2
INTERRUPTED = 130
_LONGEST = 1000


class Misuse(Exception):
    """A usage error on the command line."""


def run_guarded(work: Callable[[], int], arguments: Sequence[str]) -> int:
    """Run the work; return its exit code, and print errors on stderr, as JSON if the line asks for it."""
    as_json = asks_for_json(arguments)
    try:
        code = work()
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of our output is gone, so there is nothing left to say.
        _flush_or_discard_stdout()
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except (typer.Abort, typer.TyperException, Misuse, RecollectumError, OSError) as error:
        _flush_or_discard_stdout()
        return _print_error(error, as_json=as_json)
    except Exception as error:  # noqa: BLE001 - a fault of ours; Python would print what the error says
        _flush_or_discard_stdout()
        return _print_error(log_unexpected(error, arguments, os.environ), as_json=as_json)
    return code


def asks_for_json(arguments: Sequence[str]) -> bool:
    """Return whether --json is on the line, even when the line could not be parsed."""
    flags = arguments[: arguments.index("--")] if "--" in arguments else arguments
    return "--json" in flags


def check_arguments(arguments: Sequence[str]) -> None:
    """Raise for arguments that are not text: no shell passes them on purpose, and no database could look them up."""
    for place, argument in enumerate(arguments, start=1):
        if any(0xD800 <= ord(char) <= 0xDFFF for char in argument):
            raise Misuse(f"argument {place} is not UTF-8; write it in that encoding")
        if "\0" in argument:
            raise Misuse(f"argument {place} holds a NUL character; leave it out")


def _print_error(error: Exception, *, as_json: bool) -> int:
    kind, code, message = _explain(error)
    shown = message if len(message) <= _LONGEST else message[:_LONGEST] + "…"
    if as_json:
        text = json.dumps({"error": {"type": kind, "message": shown}})
    else:
        text = "\n".join(f"recollectum: {visible(line)}" for line in shown.splitlines() or [kind])
    print(text, file=sys.stderr)
    return code


def _explain(error: Exception) -> tuple[str, int, str]:
    """Return the name of the error, the exit code, and the sentence."""
    match error:
        case typer.Abort():
            return "Aborted", FAILED, "the input ended before an answer was given; nothing was done"
        case Misuse():
            return "Usage", MISUSED, one_line(str(error))
        case typer.TyperException():
            return "Usage", MISUSED, _usage_sentence(error)
        case SettingsError() | ManifestError():
            # The errors with several sentences, one per line: every problem of every settings file or extension.
            return type(error).__name__, FAILED, str(error)
        case OSError():
            return "OSError", FAILED, one_line(_system_sentence(error))
        case UnexpectedError():
            return "Unexpected", FAILED, one_line(str(error))
        case _:
            return type(error).__name__, FAILED, one_line(str(error))


#: What the parser says about a value, and how we say it.
_PARSER_WORDS = (
    (re.compile(r"Input should be less than or equal to (\S+)"), r"write a number of at most \1"),
    (re.compile(r"Input should be greater than or equal to (\S+)"), r"write a number of at least \1"),
    (re.compile(r"Input should be a valid integer\b.*"), "write a whole number"),
    (re.compile(r"Input should be a valid number\b.*"), "write a number"),
    (re.compile(r"Value error, "), ""),
)


def _usage_sentence(error: typer.TyperException) -> str:
    """Return the parser's message as a sentence like ours."""
    said = " ".join(error.format_message().split()).removesuffix(".")
    for theirs, ours in _PARSER_WORDS:
        said = theirs.sub(ours, said)
    context: typer.Context | None = getattr(error, "ctx", None)
    where = context.command_path if context else "recollectum"
    return f"{said[:1].lower()}{said[1:]}; see: {where} --help"


def _system_sentence(error: OSError) -> str:
    reason = error.strerror or type(error).__name__
    return f"{error.filename}: {reason}" if error.filename else f"the system refused: {reason}"


def _flush_or_discard_stdout() -> None:
    """Flush stdout, or discard what is left: the interpreter would try again at exit and print an error."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
