"""A policy rule: its scope and its verdict; a check that may overrule it; and the file of both.

tier      admin > user > project > extension > default; a rule of a higher tier always comes before one of a lower
priority  0 to 999 within a tier; between equals, deny comes before ask_user, and ask_user before allow
"""

from collections.abc import Callable
from dataclasses import field
from enum import IntEnum, StrEnum

from recollectum.domain.records import dataclass


class Verdict(StrEnum):
    """The decision on a use of a tool."""

    ALLOW = "allow"
    DENY = "deny"
    ASK_USER = "ask_user"

    @property
    def strictness(self) -> int:
        """Return 2 for deny, 1 for ask_user, 0 for allow."""
        return {Verdict.ALLOW: 0, Verdict.ASK_USER: 1, Verdict.DENY: 2}[self]


class Tier(IntEnum):
    """The origin of a rule; a greater tier comes before a smaller one."""

    DEFAULT = 1
    #: Anybody may have written an extension or the files of a project, so their rules can only forbid and ask.
    EXTENSION = 2
    PROJECT = 3
    USER = 4
    ADMIN = 5

    def __str__(self) -> str:
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Place:
    """The file and line of a rule or problem."""

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
    #: Whether the unreadable part may have forbidden something.
    may_restrict: bool = True
    #: The tools it is about, if they could be read; empty may mean all.
    tools: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.place.file}:{self.place.line}: {self.what}"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleScope:
    """The uses of tools that a rule is about; an empty field does not restrict it."""

    tools: tuple[str, ...]
    servers: tuple[str, ...] = ()
    modes: tuple[str, ...] = ()
    clients: tuple[str, ...] = ()
    #: The first words of a shell command, as alternatives.
    prefixes: tuple[tuple[str, ...], ...] = ()
    #: The pattern of the arguments as written.
    args_pattern: str | None = None
    #: Returns whether the pattern matches somewhere in a text.
    pattern: Callable[[str], bool] | None = field(default=None, compare=False, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A verdict on the uses of tools in a scope."""

    place: Place
    reach: RuleScope
    verdict: Verdict
    priority: int = 0
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A checker, by its name, for the uses of tools in a scope that would not be denied anyway."""

    place: Place
    reach: RuleScope
    checker: str
    priority: int = 0
    #: The verdict when the checker finds something.
    verdict: Verdict = Verdict.DENY
    #: The options of the checker, by name: `roots`, `arguments`, `limit`.
    options: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def option(self, name: str) -> tuple[str, ...]:
        """Return one of the options; empty if it was not given."""
        return dict(self.options).get(name, ())


@dataclass(frozen=True, slots=True)
class RuleFile:
    """The content of one file: its rules and checks, and its problems."""

    rules: tuple[Rule, ...] = ()
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()
