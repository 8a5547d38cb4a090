"""Ignore rules as in `.gitignore`: which files of a folder are left out.

The rules are those of git: the last one that matches decides, rules of a deeper folder come after those above it,
and what lies in an ignored folder cannot be brought back. Case counts, and a character is one whatever its bytes.
"""

import re
from dataclasses import dataclass

from recollectum.text.globs import glob_pattern


@dataclass(frozen=True, slots=True)
class Rule:
    """One line of a file of rules."""

    pattern: re.Pattern[str]
    #: The folder the rule is in, with a slash after it unless it is the top.
    base: str
    is_negated: bool
    folders_only: bool
    #: Whether the pattern is for the name alone, at any depth.
    by_name: bool

    def applies(self, path: str, *, is_dir: bool) -> bool:
        """Whether the rule is about this path."""
        if not path.startswith(self.base) or (self.folders_only and not is_dir):
            return False
        inside = path[len(self.base) :]
        return self.pattern.fullmatch(inside.rpartition("/")[2] if self.by_name else inside) is not None


@dataclass(frozen=True, slots=True)
class IgnoreRules:
    """Rules of one or several files, weakest first."""

    rules: tuple[Rule, ...] = ()

    @classmethod
    def parse(cls, text: str, *, folder: str = "") -> "IgnoreRules":
        """The rules of a file that lies in a folder, named from the top with forward slashes; any text is legal."""
        base = f"{folder.strip('/')}/" if folder.strip("/") else ""
        found = (_rule(line.removesuffix("\r"), base) for line in text.removeprefix("\ufeff").split("\n"))
        return cls(tuple(rule for rule in found if rule))

    def combine(self, *others: "IgnoreRules") -> "IgnoreRules":
        """These and other files' rules together, in any order: deeper folders decide over those above them."""
        together = [rule for each in (self, *others) for rule in each.rules]
        return IgnoreRules(tuple(sorted(together, key=lambda rule: rule.base.count("/"))))

    def matches(self, path: str, *, is_dir: bool) -> bool:
        """Whether a file or folder is ignored, by itself or by a folder above it; named with forward slashes."""
        parts = path.split("/")
        above = ("/".join(parts[:depth]) for depth in range(1, len(parts)))
        return any(self._decides(folder, is_dir=True) for folder in above) or self._decides(path, is_dir=is_dir)

    def _decides(self, path: str, *, is_dir: bool) -> bool:
        for rule in reversed(self.rules):
            if rule.applies(path, is_dir=is_dir):
                return not rule.is_negated
        return False


def _rule(line: str, base: str) -> Rule | None:
    """The rule of a line, unless it is blank, a comment, or a pattern that nothing can match."""
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
    return Rule(pattern, base, is_negated, folders_only, by_name) if pattern else None


def _trimmed(line: str) -> str:
    """The line without the spaces at its end, except one that a backslash keeps."""
    bare = line.rstrip(" ")
    backslashes = len(bare) - len(bare.rstrip("\\"))
    return bare + " " if backslashes % 2 and len(line) > len(bare) else bare
