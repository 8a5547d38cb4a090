"""Applies one loaded set of rules to the operations of a home, and caches the decisions."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import reduce
from pathlib import Path

from recollectum.domain.access.caller import OPERATOR
from recollectum.domain.errors import Denied
from recollectum.domain.message import Json
from recollectum.policy.rules.decisions import ToolDecision, ToolRequest, asks_for_arguments, decide
from recollectum.policy.rules.matching import Ruleset
from recollectum.policy.rules.model import Tier, Verdict

_MOST_KEPT = 4096

#: The arguments of an operation, computed only for a rule that reads them.
Arguments = Callable[[], Mapping[str, Json]]
Names = tuple[str, ...]


class ActiveRules:
    """One set of rules, and its cached decisions, which do not depend on arguments."""

    def __init__(
        self,
        rules: Ruleset,
        cwd: Path,
        roots: tuple[Path, ...],
        refused: Callable[[str, str], None] = lambda _, __: None,
    ) -> None:
        self._rules, self._cwd, self._roots = rules, cwd, roots
        #: Called with each refusal: the operation, and the rule as its file, line and tier.
        self._refused = refused
        # The process owner can correct all files except the admin's, so an error in those must not lock them out.
        of_the_admin = tuple(one for one in rules.problems if one.place.tier is Tier.ADMIN)
        self._for_the_owner = replace(rules, problems=of_the_admin)
        self._kept: dict[tuple[str, Names], ToolDecision] = {}

    def check(self, tool: str, names: Names, arguments: Arguments) -> None:
        """Return if the rules allow an operation; raise Denied, with the rule that decided, otherwise."""
        decided = self._decide(tool, names, arguments)
        why = _refusal(decided, tool, names)
        if why is not None:
            judge = decided.check or decided.rule
            place = judge.place if judge else None
            self._refused(tool, f"{Path(place.file).name}:{place.line} ({place.tier})" if place else "")
            raise Denied(why)

    def allows(self, tool: str, names: Names, arguments: Arguments) -> bool:
        """Return whether the rules allow an operation that is not asked for, and is not reported as refused."""
        return _refusal(self._decide(tool, names, arguments), tool, names) is None

    def _decide(self, tool: str, names: Names, arguments: Arguments) -> ToolDecision:
        decided = self._kept.get((tool, names))
        if decided is None:
            rules = self._for_the_owner if _is_owner(names) else self._rules
            asks = asks_for_arguments(tool, rules)
            decided = decide(self._request(tool, names, arguments if asks else dict), rules)
            if not asks:
                self._keep(tool, names, decided)
        return decided

    def _request(self, tool: str, names: Names, arguments: Arguments) -> ToolRequest:
        return ToolRequest(
            tool=tool, args=arguments(), client=names[0], also=names[1:], cwd=self._cwd, roots=self._roots
        )

    def _keep(self, tool: str, names: Names, decided: ToolDecision) -> None:
        # Names may come from outside, so the cache is bounded.
        if len(self._kept) >= _MOST_KEPT:
            self._kept.clear()
        self._kept[tool, names] = decided


def _is_owner(names: Names) -> bool:
    return names == (OPERATOR.name,)


def _refusal(decided: ToolDecision, tool: str, names: Names) -> str | None:
    """Return the reason for refusing an operation; None if it is allowed."""
    if decided.verdict is Verdict.ALLOW:
        return None
    asked = decided.verdict is Verdict.ASK_USER
    judge = decided.check or decided.rule
    of_the_admin = decided.doubt is not None or (judge is not None and judge.place.tier is Tier.ADMIN)
    # The owner would be the one to ask, so asking counts as consent; but the owner cannot grant what the admin
    # reserves.
    if asked and _is_owner(names) and not of_the_admin:
        return None
    how = "needs a person's approval, and nobody can be asked here" if asked else "is denied"
    said = f"{' as '.join(names)} may not do this: {tool} {how} by {judge.place if judge else 'no rule'}: {decided.why}"
    return said if _is_owner(names) else _without_folders(said, decided)


def _without_folders(said: str, decided: ToolDecision) -> str:
    """Return the reason without folders: other callers learn which rule decided, not where the policies are stored."""
    files = {one.place.file for one in (decided.check, decided.rule, decided.doubt) if one}
    return reduce(lambda text, file: text.replace(file, Path(file).name), files, said)
