"""Reads and parses a settings file, or gives one sentence with the reason why it cannot."""

import json
import re
import stat
from pathlib import Path
from typing import cast

from recollectum.domain.errors import SettingsError
from recollectum.settings.check import Tree

#: Anybody may have written the file of a project; none needs to be near this size.
MAX_BYTES = 256 * 1024

_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)")


def read_text(path: Path) -> str | None:
    """Return the text of the file, or None if it does not exist."""
    try:
        found = path.stat()
        if not stat.S_ISREG(found.st_mode):
            raise SettingsError(f"{path} is not a file; move what is there out of the way")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}); correct its owner or mode") from error
    if len(data) > MAX_BYTES:
        raise SettingsError(f"{path} is larger than {MAX_BYTES // 1024} KiB; it cannot be a settings file")
    try:
        # Some editors begin a file with a byte order mark, which TOML and JSON do not allow.
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise SettingsError(f"{path} line {line} is not UTF-8; save the file in that encoding") from error


def read_toml(path: Path) -> Tree | None:
    """Return the file as a tree, or None if it does not exist."""
    text = read_text(path)
    return None if text is None else parse_toml(text, path)


def parse_toml(text: str, path: Path) -> Tree:
    """Return the text as a tree; an error names the file and the line."""
    import tomllib  # noqa: PLC0415 - most homes have no settings file, and then the parser is not needed

    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _PLACE.search(str(error))
        line = found["line"] if found and found["line"] else str(text.count("\n") + 1)
        said = _PLACE.sub("", str(error))
        raise SettingsError(f"{path} line {line} is not TOML: {said[:1].lower()}{said[1:]}") from error
    except (RecursionError, ValueError) as error:
        # Very deep nesting, or a number of thousands of digits.
        raise SettingsError(f"{path} contains a value that no setting can have; remove it") from error


def read_json(path: Path) -> Tree | None:
    """Return the file as a tree, or None if it does not exist."""
    text = read_text(path)
    if text is None:
        return None
    try:
        tree: object = json.loads(text)
    except json.JSONDecodeError as error:
        said = f"{error.msg[:1].lower()}{error.msg[1:]}"
        raise SettingsError(f"{path} line {error.lineno} is not JSON: {said}") from error
    except (RecursionError, ValueError) as error:
        raise SettingsError(f"{path} contains a value that no setting can have; remove it") from error
    if not isinstance(tree, dict):
        raise SettingsError(f"{path} is not a JSON object; begin it with a brace")
    return cast("Tree", tree)
