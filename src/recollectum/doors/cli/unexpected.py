"""What is told of an error that nobody expected: its class and its places, in the log and in one sentence."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from recollectum.domain.errors import RecollectumError
from recollectum.home.paths import Home, home_root

_HOME = "--home"


class Unexpected(Exception):
    """A fault of ours, without what the error itself says: that may be what somebody wrote."""


def unexpected(error: Exception, arguments: Sequence[str], environ: Mapping[str, str]) -> Unexpected:
    """Write the places of the error into the home's log, where there is a home, and say what happened."""
    # Only now: there is nothing to log on a good day.
    from recollectum.home.logs import Log, places  # noqa: PLC0415

    last = (list(places(error)) or ["nowhere"])[-1]
    with suppress(RecollectumError, OSError):
        home = Home(home_root(_named(arguments), environ))
        if home.root.is_dir():
            log = Log(home, _level(home, environ))
            log.failure("cli.unexpected", error)
            log.close()
    return Unexpected(f"this is a fault in Recollectum: {type(error).__name__} at {last}; please report that place")


def _named(arguments: Sequence[str]) -> Path | None:
    for place, argument in enumerate(arguments):
        if argument == _HOME and place + 1 < len(arguments):
            return Path(arguments[place + 1])
        if argument.startswith(f"{_HOME}="):
            return Path(argument.partition("=")[2])
    return None


def _level(home: Home, environ: Mapping[str, str]) -> str:
    from recollectum.settings.load import load  # noqa: PLC0415 - as above

    try:
        return load(home, cwd=Path.cwd(), environ=environ).settings.log.level
    except RecollectumError:
        return "error"
