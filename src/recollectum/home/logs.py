"""Writes the log of a home: JSON lines of named events with an allow-list of fields and no content.

A field that is not on the list, or whose value does not have the required form, is dropped and counted. There is no
free text at any level: an error is logged as its class and its places in the code, without message or values.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, cast

from recollectum.domain.errors import RecollectumError
from recollectum.domain.ids import Clock, system_clock
from recollectum.home.paths import Home

if TYPE_CHECKING:
    from logging import Logger

#: From least to most verbose.
LEVELS = ("off", "error", "info", "debug")

FOLDER = "logs"
_FILE = "recollectum.jsonl"
_MOST_PLACES = 40
_EVENT = re.compile(r"[a-z_]{1,24}(\.[a-z_]{1,24}){1,2}")
# The format of our ids: an id from a file may be anything, and is dropped.
_ID = re.compile(r"[a-z]{2,4}_[0-9a-hjkmnp-tv-z]{26}")
_CLASS = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}")
_PLACE = re.compile(r"[a-z0-9_<>]{1,40}(/[a-z0-9_]{1,40})?\.py:[0-9]{1,6}")
_OPERATION = re.compile(r"[a-z_]{1,24}\.[a-z_]{1,32}")
_RULE = re.compile(r"[A-Za-z0-9_.-]{1,64}\.toml:[0-9]{1,6} \((admin|user|project|default)\)")
#: The allowed words of states and kinds.
_OF_STATE = "done held needs_confirmation pending failed waiting claimed"
_OF_KIND = "session memory user source older-than project restored home vaults"
_WORDS = frozenset((*_OF_STATE.split(), *_OF_KIND.split()))
_COUNTS = "archived deleted marked purged waiting erased added updated superseded renewed proposed ignored"
_SIZES = "messages memories vaults count files bytes hits ms"
_NUMBERS = (*_COUNTS.split(), *_SIZES.split())
_IDS = ("purge", "run", "job", "session", "memory", "vault", "quarantine", "brought")


def _matches(pattern: re.Pattern[str]) -> Callable[[object], bool]:
    return lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None


#: The allowed fields of a line, and the form of their values.
FIELDS: Mapping[str, Callable[[object], bool]] = {
    **{name: lambda value: isinstance(value, int | float) for name in _NUMBERS},
    **dict.fromkeys(_IDS, _matches(_ID)),
    "state": lambda value: isinstance(value, str) and str(value) in _WORDS,
    "kind": lambda value: isinstance(value, str) and str(value) in _WORDS,
    "error": _matches(_CLASS),
    "rule": _matches(_RULE),
    "operation": _matches(_OPERATION),
    "places": lambda value: isinstance(value, list) and all(map(_matches(_PLACE), cast("list[object]", value))),
}


class Log:
    """One home's log, or none at all; the first line creates the file."""

    def __init__(self, home: Home | None = None, level: str = "off", clock: Clock = system_clock) -> None:
        self._folder = home.root / FOLDER if home else None
        self._level = LEVELS.index(level) if home else 0
        self._clock = clock
        self._logger: Logger | None = None

    def error(self, event: str, fields: Mapping[str, object] | None = None) -> None:
        """Log an unexpected problem."""
        self._write("error", event, fields or {})

    def info(self, event: str, fields: Mapping[str, object] | None = None) -> None:
        """Log something that a person may ask about."""
        self._write("info", event, fields or {})

    def debug(self, event: str, fields: Mapping[str, object] | None = None) -> None:
        """Log an intermediate step."""
        self._write("debug", event, fields or {})

    def failure(self, event: str, error: BaseException) -> None:
        """Log an unexpected error: its class and its places in the code, without its message."""
        self.error(event, {"error": type(error).__name__, "places": list(places(error))})

    def _write(self, level: str, event: str, fields: Mapping[str, object]) -> None:
        if self._folder is None or LEVELS.index(level) > self._level:
            return
        line = to_line(level, event, fields, self._clock().isoformat())
        try:
            self._opened(self._folder).info(line)
        except (OSError, RecollectumError):
            # A log that cannot be written must not stop the work it describes.
            self._level = 0

    def _opened(self, folder: Path) -> "Logger":
        if self._logger is None:
            # Imported here: most programs log nothing.
            from recollectum.home.log_rotation import open_logger  # noqa: PLC0415

            self._logger = open_logger(folder, _FILE)
        return self._logger

    def close(self) -> None:
        """Close the file; a later line opens it again."""
        for handler in self._logger.handlers if self._logger else ():
            handler.close()
        self._logger = None


def to_line(level: str, event: str, fields: Mapping[str, object], at: str) -> str:
    """Return one line of the log with the allowed fields, and the number of dropped ones."""
    kept = {name: value for name, value in fields.items() if name in FIELDS and FIELDS[name](value)}
    dropped = len(fields) - len(kept)
    named = event if _EVENT.fullmatch(event) else "log.unnamed"
    line: dict[str, object] = {"at": at, "level": level, "event": named, **kept}
    return json.dumps({**line, "dropped": dropped} if dropped else line, separators=(",", ":"))


def places(error: BaseException) -> Iterator[str]:
    """Return the places of an error and of its causes, outermost first: files and lines only."""
    seen: list[BaseException] = []
    one: BaseException | None = error
    while one is not None and one not in seen:
        seen.append(one)
        one = one.__cause__ or one.__context__
    found = [place for each in seen for place in _walk(each.__traceback__)]
    return iter(found[:_MOST_PLACES])


def _walk(trace: TracebackType | None) -> Iterator[str]:
    while trace is not None:
        yield _place(trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        trace = trace.tb_next


def _place(file: str, line: int) -> str:
    name = "/".join(Path(file).parts[-2:]).lower()
    place = f"{name}:{line}"
    # The file of another package may have any name.
    return place if _PLACE.fullmatch(place) else f"other.py:{line}"
