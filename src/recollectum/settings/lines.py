"""A TOML file as lines, of which one is changed, added or removed."""

import re

_HEADER = re.compile(r"\s*\[\s*(?P<name>[^\[\]#]+?)\s*\]\s*(?:#.*)?")
_KEY = re.compile(
    r"(?P<head>\s*(?P<name>[^=#\[]+?)\s*=\s*)"
    r"""(?P<value>"(?:[^"\\]|\\.)*"|'[^']*'|[^\s"'#\[{][^#]*?)"""
    r"(?P<tail>\s*(?:#.*)?)"
)
_QUOTES_AND_SPACES = re.compile(r"[\s\"']")


class Lines:
    """The lines of a settings file.

    It knows the plain forms, `name = value` below `[section]` or `section.name = value`. Whoever uses it parses the
    result and compares, so a file that is written otherwise is refused and never spoilt.
    """

    def __init__(self, text: str) -> None:
        self._newline = "\r\n" if "\r\n" in text else "\n"
        self._lines = text.replace("\r\n", "\n").removesuffix("\n").split("\n") if text else []

    def __str__(self) -> str:
        """The file again, with the line ends it had."""
        return "".join(line + self._newline for line in self._lines)

    def set(self, key: str, literal: str) -> None:
        """Give the key this value, on its own line where it has one."""
        at = self._find(key)
        found = _KEY.fullmatch(self._lines[at]) if at is not None else None
        if at is not None and found:
            self._lines[at] = f"{found['head']}{literal}{found['tail']}"
        else:
            self._add(key, literal)

    def remove(self, key: str) -> None:
        """Take the line of the key out, where it has one."""
        at = self._find(key)
        if at is not None:
            del self._lines[at]

    def _find(self, key: str) -> int | None:
        section = ""
        for number, line in enumerate(self._lines):
            if header := _HEADER.fullmatch(line):
                section = _plain(header["name"])
            elif found := _KEY.fullmatch(line):
                name = _plain(found["name"])
                if (f"{section}.{name}" if section else name) == key:
                    return number
        return None

    def _add(self, key: str, literal: str) -> None:
        section, _, name = key.rpartition(".")
        line = f"{name} = {literal}"
        if not section:
            self._lines.insert(self._end_of_top(), line)
            return
        end = self._end_of(section)
        if end is None:
            gap = [""] if self._lines and self._lines[-1].strip() else []
            self._lines += [*gap, f"[{section}]", line]
        else:
            self._lines.insert(end, line)

    def _end_of(self, section: str) -> int | None:
        """The place after the last value of the section; None when there is no such section."""
        end: int | None = None
        inside = False
        for number, line in enumerate(self._lines):
            if header := _HEADER.fullmatch(line):
                inside = _plain(header["name"]) == section
            if inside and line.strip() and not line.lstrip().startswith("#"):
                end = number + 1
        return end

    def _end_of_top(self) -> int:
        """The place after the last value that stands above all sections."""
        end: int | None = None
        for number, line in enumerate(self._lines):
            if line.lstrip().startswith("["):
                # The comment right above a section is about it.
                while end is None and number and self._lines[number - 1].lstrip().startswith("#"):
                    number -= 1
                return number if end is None else end
            if _KEY.fullmatch(line):
                end = number + 1
        return len(self._lines) if end is None else end


def _plain(name: str) -> str:
    return _QUOTES_AND_SPACES.sub("", name)
