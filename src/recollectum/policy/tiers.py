"""The rules of all tiers in the one order in which they are asked."""

from collections.abc import Iterable
from dataclasses import dataclass

from recollectum.policy.matching import fits_any
from recollectum.policy.rules import Check, Problem, Rule, RuleFile


@dataclass(frozen=True, slots=True)
class Ruleset:
    """Every rule and check, the first that fits deciding, and every problem that was met."""

    rules: tuple[Rule, ...] = ()
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()

    def doubt(self, tool: str) -> Problem | None:
        """The problem of the highest tier that may have kept a rule from forbidding this tool."""
        found = (one for one in self.problems if one.may_restrict and fits_any(tool, one.tools))
        return max(found, key=lambda one: one.place.tier, default=None)


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
