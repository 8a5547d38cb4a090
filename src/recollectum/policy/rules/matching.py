"""Orders the rules of all tiers and matches one against a use of a tool: name, server, mode, client and command."""

from collections.abc import Iterable, Sequence

from recollectum.domain.records import dataclass
from recollectum.policy.rules.model import Check, Problem, Rule, RuleFile, RuleScope
from recollectum.policy.rules.shell_commands import WRAPPERS, ShellWord, SimpleCommand


def matches_name(name: str, wanted: str) -> bool:
    """Return whether a name matches the wanted one, in which each `*` matches anything."""
    first, *rest = wanted.split("*")
    if not rest:
        return name == wanted
    if not name.startswith(first):
        return False
    at = len(first)
    for part in rest[:-1]:
        at = name.find(part, at)
        if at < 0:
            return False
        at += len(part)
    return name.endswith(rest[-1]) and len(name) - len(rest[-1]) >= at


def matches_any_name(name: str, wanted: Sequence[str]) -> bool:
    """Return whether a name matches one of the wanted names; an empty list matches all."""
    return not wanted or any(matches_name(name, one) for one in wanted)


def scope_covers(reach: RuleScope, tool: str, server: str, mode: str, client: str) -> bool:
    """Return whether the scope covers the tool, server, mode and client, whatever the arguments are."""
    if reach.servers and not (server and matches_any_name(server, reach.servers)):
        return False
    # A rule for a server names the tool as the server does; any other rule uses the full name.
    local = tool.removeprefix(f"{server}__") if reach.servers else tool
    return (
        matches_any_name(local, reach.tools)
        and matches_any_name(mode, reach.modes)
        and matches_any_name(client, reach.clients)
    )


def begins_with(piece: SimpleCommand, prefix: Sequence[str]) -> bool:
    """Return whether the command certainly begins with these words, sets no variables and redirects nothing."""
    if piece.assigns or piece.redirects or len(piece.words) < len(prefix):
        return False
    return all(word.certain and word.text == wanted for word, wanted in zip(piece.words, prefix, strict=False))


def may_begin_with(piece: SimpleCommand, prefix: Sequence[str]) -> bool:
    """Return whether the command may begin with these words: under another path, in a wrapper, or from a variable."""
    words = piece.words
    starts = range(len(words)) if _base(words[0]) in WRAPPERS else range(1)
    return any(_may_begin(words[start:], prefix) for start in starts)


def _may_begin(words: Sequence[ShellWord], prefix: Sequence[str]) -> bool:
    if not words or _base(words[0]) != prefix[0].rpartition("/")[2]:
        return False
    for word, wanted in zip(words[1:], prefix[1:], strict=False):
        if not word.certain:
            return True
        if word.text != wanted:
            return False
    return len(words) >= len(prefix)


def _base(word: ShellWord) -> str:
    return word.text.rpartition("/")[2]


@dataclass(frozen=True, slots=True)
class Ruleset:
    """All rules and checks in order, of which the first match decides, and all problems."""

    rules: tuple[Rule, ...] = ()
    checks: tuple[Check, ...] = ()
    problems: tuple[Problem, ...] = ()

    def doubt(self, tool: str) -> Problem | None:
        """Return the problem of the highest tier because of which a rule that forbids this tool may be missing."""
        found = (one for one in self.problems if one.may_restrict and matches_any_name(tool, one.tools))
        return max(found, key=lambda one: one.place.tier, default=None)


def build_ruleset(files: Iterable[RuleFile]) -> Ruleset:
    """Return the rules of all files in order; the order of the files makes no difference."""
    found = list(files)
    return Ruleset(
        tuple(sorted((rule for one in found for rule in one.rules), key=_sort_key)),
        tuple(sorted((check for one in found for check in one.checks), key=_sort_key)),
        tuple(problem for one in found for problem in one.problems),
    )


def _sort_key(one: Rule | Check) -> tuple[int, int, int, str, int]:
    return -one.place.tier, -one.priority, -one.verdict.strictness, one.place.file, one.place.line
