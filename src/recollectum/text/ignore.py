"""Ignore rules as in `.gitignore`: decides which files of a folder are left out."""

import re

from recollectum.domain.records import dataclass

_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": r"\x21-\x7e",
    "lower": "a-z",
    "print": r"\x20-\x7e",
    "punct": r"\x21-\x2f\x3a-\x40\x5b-\x60\x7b-\x7e",
    "space": r"\s",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class _Invalid(ValueError):
    """Raised for a pattern that can match no path."""


@dataclass(frozen=True, slots=True)
class _Part:
    """One element of a glob: a number of stars, or an expression for one character."""

    expression: str = ""
    stars: int = 0
    #: Whether it is a plain character.
    is_plain: bool = False

    @property
    def is_slash(self) -> bool:
        """Return whether it is a folder separator."""
        return self.expression == "/"


def glob_pattern(glob: str) -> re.Pattern[str] | None:
    """Return a regular expression for a whole path or name, or None when the glob can match nothing."""
    try:
        return re.compile(_expression(_parts(glob)), re.DOTALL)
    except _Invalid:
        return None


def _parts(glob: str) -> list[_Part]:
    parts: list[_Part] = []
    at = 0
    while at < len(glob):
        match glob[at]:
            case "*":
                stars = len(glob[at:]) - len(glob[at:].lstrip("*"))
                parts.append(_Part(stars=stars))
                at += stars
            case "?":
                parts.append(_Part("[^/]"))
                at += 1
            case "[":
                expression, at = _bracket(glob, at + 1)
                parts.append(_Part(expression))
            case "\\":
                if at + 1 == len(glob):
                    raise _Invalid
                parts.append(_Part(re.escape(glob[at + 1])))
                at += 2
            case char:
                parts.append(_Part(re.escape(char), is_plain=True))
                at += 1
    return parts


def _expression(parts: list[_Part]) -> str:
    """Return the parts as one expression; text between two stars matches as early as possible, without backtracking."""
    written: list[str] = []
    closing: list[int] = []
    for at, part in enumerate(parts):
        if closing and closing[-1] == at:
            closing.pop()
            written.append(")")
        if not part.stars:
            # The slash after `**` is the last slash that it has matched.
            written.append("" if at and part.is_slash and _spans_folders(parts, at - 1) else part.expression)
            continue
        spans = _spans_folders(parts, at)
        if spans and at + 1 == len(parts):
            written.append(".*")
            continue
        one = "(?:[^/]*/)" if spans else "[^/]"
        end = _next_of_its_kind(parts, at, spans=spans)
        # In git the escaped slash of `**\/` must be present, while `**/` may match nothing.
        some = "+" if spans and not parts[at + 1].is_plain else "*"
        written.append(f"(?>{one}{some}?" if end else f"{one}{some}")
        closing += [end] if end else []
    return "".join(written)


def _next_of_its_kind(parts: list[_Part], at: int, *, spans: bool) -> int:
    """Return the position of the next `**`, or of the next star in the same folder name; 0 if there is none."""
    for after in range(at + 1, len(parts)):
        if not spans and parts[after].is_slash:
            return 0
        if parts[after].stars and _spans_folders(parts, after) == spans:
            return after
    return 0


def _spans_folders(parts: list[_Part], at: int) -> bool:
    """Return whether stars match any number of folders: two or more, alone between slashes or the ends."""
    if parts[at].stars < 2 or not (at + 1 == len(parts) or parts[at + 1].is_slash):
        return False
    # Git compares the plain characters before the first star separately, and then treats the rest as the start.
    return all(part.is_plain for part in parts[:at]) or parts[at - 1].is_slash


def _bracket(glob: str, at: int) -> tuple[str, int]:
    """Return the expression for a set of characters that begins after its bracket, and the position after the set."""
    negated = glob[at : at + 1] in ("!", "^")
    at += negated
    written: list[str] = []
    previous = ""
    first = True
    while first or _char(glob, at) != "]":
        first = False
        char = _char(glob, at)
        if char == "[" and (name := _class_name(glob, at)):
            written.append(_CLASSES[name])
            previous, at = "", at + len(name) + 4
        elif char == "-" and previous and _char(glob, at + 1) != "]":
            last, at = _escaped(glob, at + 1)
            written += [f"{re.escape(previous)}-{re.escape(last)}"] if previous <= last else []
            previous = ""
        else:
            previous, at = _escaped(glob, at)
            written.append(re.escape(previous))
    return (f"[^/{''.join(written)}]" if negated else f"(?!/)[{''.join(written)}]"), at + 1


def _char(glob: str, at: int) -> str:
    if at >= len(glob):
        raise _Invalid
    return glob[at]


def _escaped(glob: str, at: int) -> tuple[str, int]:
    """Return the character at a position, or the one that a backslash escapes there, and the next position."""
    at += _char(glob, at) == "\\"
    return _char(glob, at), at + 1


def _class_name(glob: str, at: int) -> str:
    """Return the name in `[:name:]`, or an empty string if the bracket is a plain character."""
    if _char(glob, at + 1) != ":":
        return ""
    end = glob.find("]", at + 2)
    if end < 0:
        raise _Invalid
    if end == at + 2 or glob[end - 1] != ":":
        return ""
    name = glob[at + 2 : end - 1]
    if name not in _CLASSES:
        raise _Invalid
    return name


@dataclass(frozen=True, slots=True)
class IgnoreRule:
    """One line of an ignore file."""

    pattern: re.Pattern[str]
    #: The folder of the file, with a slash after it unless it is the top.
    base: str
    is_negated: bool
    folders_only: bool
    #: Whether the pattern matches the name only, at any depth.
    by_name: bool

    def applies(self, path: str, *, is_dir: bool) -> bool:
        """Return whether the rule matches this path."""
        if not path.startswith(self.base) or (self.folders_only and not is_dir):
            return False
        inside = path[len(self.base) :]
        return self.pattern.fullmatch(inside.rpartition("/")[2] if self.by_name else inside) is not None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """The rules of one or several files, weakest first."""

    rules: tuple[IgnoreRule, ...] = ()

    @classmethod
    def parse(cls, text: str, *, folder: str = "") -> "IgnoreRules":
        """Return the rules of a file in a folder, given from the top with forward slashes; any text is valid."""
        base = f"{folder.strip('/')}/" if folder.strip("/") else ""
        found = (_parse_rule(line.removesuffix("\r"), base) for line in text.removeprefix("\ufeff").split("\n"))
        return cls(tuple(rule for rule in found if rule))

    def combine(self, *others: "IgnoreRules") -> "IgnoreRules":
        """Return these and other files' rules together, in any order: deeper folders win over those above them."""
        together = [rule for each in (self, *others) for rule in each.rules]
        return IgnoreRules(tuple(sorted(together, key=lambda rule: rule.base.count("/"))))

    def matches(self, path: str, *, is_dir: bool) -> bool:
        """Return whether a path, with forward slashes, is ignored by itself or by a folder above it."""
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return any(self._decides(folder, is_dir=True) for folder in above) or self._decides(path, is_dir=is_dir)

    def _decides(self, path: str, *, is_dir: bool) -> bool:
        for rule in reversed(self.rules):
            if rule.applies(path, is_dir=is_dir):
                return not rule.is_negated
        return False


def _parse_rule(line: str, base: str) -> IgnoreRule | None:
    """Return the rule of a line, or None if it is blank, a comment, or a pattern that nothing can match."""
    if line.startswith("#"):
        return None
    line = _trimmed(line)
    is_negated = line.startswith("!")
    line = line[is_negated:]
    folders_only = line.endswith("/")
    line = line.removesuffix("/")
    by_name = "/" not in line
    line = line.removeprefix("/")
    pattern = glob_pattern(line) if line else None
    return IgnoreRule(pattern, base, is_negated, folders_only, by_name) if pattern else None


def _trimmed(line: str) -> str:
    """Return the line without trailing spaces, except one that a backslash escapes."""
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if backslashes % 2 and len(line) > len(bare) else bare
