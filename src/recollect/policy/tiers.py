"""The rules of all tiers in the one order in which they are asked."""

from collections.abc import Iterable
from dataclasses import dataclass

from recollect.policy.rules import Check, Problem, Rule, RuleFile, Tier


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Every rule and check, the first that fits deciding, and every problem that was met."""

    rules: tuple[Rule, ...] = ()
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()

    @property
    def doubtful(self) -> Tier | None:
        """The highest tier of which a part that may have forbidden something could not be read."""
        return max((problem.place.tier for problem in self.problems if problem.may_restrict), default=None)


def ruleset(files: Iterable[RuleFile]) -> Ruleset:
    """The rules of all files, put in order; the order of the files makes no difference."""
    found = list(files)
    return Ruleset(
        tuple(sorted((rule for one in found for rule in one.rules), key=_before)),
        tuple(sorted((check for one in found for check in one.checks), key=_before)),
        tuple(problem for one in found for problem in one.problems),
    )


def _before(one: Rule | Check) -> tuple[int, int, int, str, int]:
    return -one.place.tier, -one.priority, -one.verdict.strictness, one.place.file, one.place.line
