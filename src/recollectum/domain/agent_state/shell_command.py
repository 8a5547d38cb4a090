"""ShellCommand: a command line that a shell ran in a project."""

import re
from dataclasses import field
from datetime import datetime

from recollectum.domain.errors import InvalidInput
from recollectum.domain.notice import BESIDE, NO_NOTICE, Notice
from recollectum.domain.records import dataclass

#: Characters of one command; a longer one is refused and never cut.
MAX_COMMAND = 32_768
#: The project of commands that belong to none.
NO_PROJECT = ""
_KEY = re.compile(r"(?:[0-9a-f]{64})?")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellCommand:
    """One command as it was typed, without its secrets; it may have several lines."""

    id: str
    #: The key of the project, a SHA-256 digest; empty when the command was run in none.
    project: str
    command: str
    at: datetime
    #: What was done to the text before it was written.
    notice: Notice = field(default=NO_NOTICE, compare=False, metadata=BESIDE)


def check_project(key: str) -> str:
    """Return the key of a project; raise unless it is a SHA-256 digest or empty."""
    if not _KEY.fullmatch(key):
        raise InvalidInput(f"project {key[:80]!r} is not the key of one; use its 64 hexadecimal digits, or none")
    return key


def check_command(command: str) -> str:
    """Return a command without the line breaks at its end; raise when it is empty or too long."""
    shown = command.rstrip("\r\n")
    if not shown.strip():
        raise InvalidInput("the command is empty; give the command line that was run")
    if len(shown) > MAX_COMMAND:
        raise InvalidInput(f"the command has {len(shown)} characters, and at most {MAX_COMMAND} are kept; shorten it")
    return shown
