"""A policy rule: which tool in which hands and what is decided; a check that may overrule it; the file of both.

tier      admin > user > project > default; a rule of a higher tier always goes before one of a lower
priority  0 to 999 within a tier; where two are equal, deny goes before ask_user, and ask_user before allow
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import IntEnum, StrEnum


class Verdict(StrEnum):
    """What is decided about a use of a tool."""

    ALLOW = "allow"
    DENY = "deny"
    ASK_USER = "ask_user"

    @property
    def strictness(self) -> int:
        """Two for deny, one for ask_user, none for allow."""
        return {Verdict.ALLOW: 0, Verdict.ASK_USER: 1, Verdict.DENY: 2}[self]


class Tier(IntEnum):
    """Whose rule it is; the greater goes before the smaller."""

    DEFAULT = 1
    #: Anybody may have written what is in a project, so its rules can only forbid and ask.
    PROJECT = 2
    USER = 3
    ADMIN = 4

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was written."""

    file: str
    line: int
    tier: Tier

    def __str__(self) -> str:
        return f"{self.file}:{self.line} ({self.tier})"


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a file, and where."""

    place: Place
    what: str
    #: Whether what could not be read may have forbidden something.
    may_restrict: bool = True
    #: The tools it is about, where that much could be read; what is empty may be about all.
    tools: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.place.file}:{self.place.line}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleScope:
    """Which uses of tools a rule is about; what is empty does not narrow it."""

    tools: tuple[str, ...]
    servers: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    #: The first words of a shell command, in several choices.
    prefixes: tuple[tuple[str, ...], ...] = ()
    #: The pattern of the arguments as it was written.
    args_pattern: str | None = None
    #: Whether the pattern is somewhere in a text.
    pattern: Callable[[str], bool] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is decided about the uses of tools in its reach."""

    place: Place
    reach: RuleScope
    verdict: Verdict
    priority: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A checker, by its name, for the uses of tools in its reach that would not be denied anyway."""

    place: Place
    reach: RuleScope
    checker: str
    priority: int = 0
    #: What is decided when the checker finds something.
    verdict: Verdict = Verdict.DENY
    #: What the checker is told, by name: `roots`, `arguments`, `limit`.
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def option(self, name: str) -> tuple[str, ...]:
        """One of the options, empty where it was not given."""
        return dict(self.options).get(name, ())


@dataclass(frozen=True, slots=True)
class RuleFile:
    """What one file says: its rules and checks, and what is wrong with it."""

    rules: tuple[Rule, ...] = ()
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()
