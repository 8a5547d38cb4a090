"""Adds or removes one table of a TOML text, and leaves every other line alone."""

import re
import tomllib
from collections.abc import Callable, Mapping, Sequence
from typing import cast

from recollectum.domain.errors import InvalidInput

_AT_LINE = re.compile(r"\(at line (\d+), column \d+\)|\(at end of document\)")


def read(text: str) -> dict[str, object]:
    """Parse the document into values."""
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        found = _AT_LINE.search(str(error))
        line = found[1] if found and found[1] else str(text.count("\n") + 1)
        what = _AT_LINE.sub("", str(error)).strip()
        raise InvalidInput(f"line {line}: {what[:1].lower()}{what[1:]}") from None


def find(tree: object, path: Sequence[str]) -> object:
    """Return the value at a path of names; None when there is none."""
    found = tree
    for name in path:
        if not isinstance(found, dict):
            return None
        found = cast("dict[str, object]", found).get(name)
    return found


def with_table(text: str, path: Sequence[str], values: Mapping[str, object]) -> str:
    """Return the text with a table of plain values, in its old position or at the end."""
    import tomlkit  # noqa: PLC0415 - only a change of a file needs it

    before = find(read(text), path)
    if before == values:
        return text
    if before is not None:
        return _edited(text, lambda document: _table(document, path[:-1]).update({path[-1]: dict(values)}))
    nested: object = dict(values)
    for name in reversed(path):
        nested = {name: nested}
    table = tomlkit.dumps(cast("Mapping[str, object]", nested)).replace("\n", _newline(text))
    # Appended as text: tomlkit would put it between a table and the comment above that.
    return text.rstrip() + 2 * _newline(text) + table if text.strip() else table


def without_table(text: str, path: Sequence[str]) -> str:
    """Return the text without a table, its subtables, and the empty lines left at the end."""
    if find(read(text), path) is None:
        return text
    after = _edited(text, lambda document: _table(document, path[:-1]).pop(path[-1]))
    kept = after.rstrip()
    if not text.startswith(kept):
        return after
    return kept + _newline(text) if kept else ""


def _table(document: object, path: Sequence[str]) -> dict[str, object]:
    return cast("dict[str, object]", find(document, path))


def _newline(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _edited(text: str, change: Callable[[object], object]) -> str:
    import tomlkit  # noqa: PLC0415 - see with_table

    document = tomlkit.parse(text.replace("\r\n", "\n"))
    change(document)
    return document.as_string().replace("\n", _newline(text))
