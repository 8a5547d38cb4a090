"""On which line each table of an array of tables begins; the parser of TOML does not say."""

import re

_HEADER = re.compile(r"\s*\[\[\s*(?P<name>[\w.-]+|\"[^\"]*\"|'[^']*')\s*\]\]\s*(?:#.*)?")
_OPENING = re.compile(r"\"\"\"|'''|\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|#")


def header_lines(text: str) -> dict[str, list[int]]:
    """The lines of `[[name]]` for each name, in their order; what stands within a long string is not counted."""
    found: dict[str, list[int]] = {}
    within = ""
    for number, line in enumerate(text.split("\n"), start=1):
        header = None if within else _HEADER.fullmatch(line.rstrip("\r"))
        if header:
            found.setdefault(header["name"].strip("\"'"), []).append(number)
        within = _string_after(line, within)
    return found


def _string_after(line: str, within: str) -> str:
    """The mark of the long string that is still open at the end of the line, or nothing."""
    at = 0
    while True:
        if within:
            end = _closing(line, within, at)
            if end < 0:
                return within
            at, within = end + 3, ""
        opening = _OPENING.search(line, at)
        if opening is None or opening[0] == "#":
            return ""
        at = opening.end()
        within = opening[0] if opening[0] in ('"""', "'''") else ""


def _closing(line: str, mark: str, at: int) -> int:
    while True:
        end = line.find(mark, at)
        if end < 0 or mark == "'''":
            return end
        # A quote after an odd number of backslashes is one of the string's own.
        before = len(line[:end]) - len(line[:end].rstrip("\\"))
        if before % 2 == 0:
            return end
        at = end + 1
