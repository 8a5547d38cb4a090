"""Opens the private log file and rotates it by size."""

import os
import sys
from io import TextIOWrapper
from logging import Formatter, Logger, LogRecord
from logging.handlers import RotatingFileHandler
from pathlib import Path

from recollectum.home.files import PRIVATE_FILE, make_private_folder

_MOST_BYTES = 1_000_000
_KEPT = 3


class PrivateFile(RotatingFileHandler):
    """A log file that rotation creates with the same private mode."""

    def _open(self) -> TextIOWrapper:
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
        return os.fdopen(os.open(self.baseFilename, flags, PRIVATE_FILE), "a", encoding="utf-8")

    def handleError(self, record: LogRecord) -> None:  # noqa: ARG002 - as the library calls it
        """Raise to the caller, instead of printing a traceback with the log line in it."""
        error = sys.exc_info()[1]
        if error is not None:
            raise error


def open_logger(folder: Path, name: str) -> Logger:
    """Return a private logger: other handlers of the process do not get our lines, and we get none of theirs."""
    make_private_folder(folder)
    handler = PrivateFile(folder / name, maxBytes=_MOST_BYTES, backupCount=_KEPT, encoding="utf-8")
    handler.setFormatter(Formatter("%(message)s"))
    logger = Logger("recollectum")
    logger.addHandler(handler)
    return logger
