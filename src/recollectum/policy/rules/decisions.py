"""Decides on one use of a tool, and names the rule and the file that decided."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from pathlib import Path

from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.policy.rules.checkers import ForeignToolUse, check
from recollectum.policy.rules.matching import Ruleset, begins_with, matches_any_name, may_begin_with, scope_covers
from recollectum.policy.rules.model import Check, Problem, Rule, RuleScope, Verdict
from recollectum.policy.rules.shell_commands import SimpleCommand, UnclearCommand, command_from_words, parse_command

#: The argument that holds a shell command.
COMMAND = "command"
DEFAULT_MODE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolRequest:
    """One use of a tool, before it happens."""

    #: The tool, or one of our actions such as `memory.search`.
    tool: str
    args: Mapping[str, Json] = field(default_factory=dict[str, Json])
    mode: str = DEFAULT_MODE
    #: The caller: an agent, a key, an MCP client.
    client: str = ""
    #: Further names of the caller, such as the agent that uses a key.
    also: tuple[str, ...] = ()
    #: The MCP server that offers the tool; if it is not known, it is read from the name.
    server: str = ""
    cwd: Path = Path("/")
    #: The working folders.
    roots: tuple[Path, ...] = ()
    resolve: Callable[[Path], Path] = field(default=Path.resolve, compare=False, repr=False)

    @property
    def names(self) -> tuple[str, ...]:
        """Return every name of the caller."""
        return (self.client, *self.also)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolDecision:
    """The verdict, the rule and perhaps the check that decided, and a sentence with the reason."""

    verdict: Verdict
    rule: Rule | None
    why: str
    check: Check | None = None
    #: Why it is not allowed although the rule allows it: another rule, which may forbid it, could not be read.
    doubt: Problem | None = None


def decide(request: ToolRequest, ruleset: Ruleset) -> ToolDecision:
    """Return the verdict of the first matching rule; for a shell command, the strictest over all commands in it."""
    tool, server = _full_name(request)
    asked = replace(request, tool=tool, server=server)
    if COMMAND in asked.args:
        decided, parts = _of_command(asked, asked.args[COMMAND], ruleset)
    else:
        decided, parts = _by_rule(asked, None, ruleset), ()
    return _checked(asked, parts, _doubted(decided, tool, ruleset), ruleset)


def _full_name(request: ToolRequest) -> tuple[str, str]:
    """Return the tool as `server__tool`, and its server, so that a server's tool never passes for one of ours."""
    name = request.tool.removeprefix("mcp__")
    if request.server:
        return name if name.startswith(f"{request.server}__") else f"{request.server}__{name}", request.server
    server, mark, _ = name.partition("__")
    return name, server if mark else ""


def _of_command(
    request: ToolRequest, command: Json, ruleset: Ruleset
) -> tuple[ToolDecision, tuple[SimpleCommand, ...]]:
    try:
        parts = _parts(command)
    except UnclearCommand as unclear:
        found = _by_rule(request, None, ruleset)
        if found.verdict is not Verdict.ALLOW:
            return found, ()
        why = f"it is unclear what the command would run: {unclear}"
        return replace(found, verdict=Verdict.ASK_USER, why=why), ()
    # Decide on each command alone, and on rules that forbid the whole line: a pattern may span its parts.
    each = [_by_rule(_with_command(request, part.text) if len(parts) > 1 else request, part, ruleset) for part in parts]
    whole = _by_rule(request, None, ruleset, restricting=True) if len(parts) > 1 else None
    every = [*each, whole] if whole and whole.rule else each
    return max(every, key=lambda one: one.verdict.strictness), parts


def _parts(command: Json) -> tuple[SimpleCommand, ...]:
    if isinstance(command, str):
        return parse_command(command)
    if isinstance(command, Sequence) and command:
        return (command_from_words([str(word) for word in command]),)
    raise UnclearCommand("it is neither a text nor a list of words")


def _with_command(request: ToolRequest, command: str) -> ToolRequest:
    return replace(request, args={**request.args, COMMAND: command})


def _by_rule(
    request: ToolRequest, piece: SimpleCommand | None, ruleset: Ruleset, *, restricting: bool = False
) -> ToolDecision:
    text = _as_text(request.args) if any(rule.reach.pattern for rule in ruleset.rules) else ""
    for rule in ruleset.rules:
        if restricting and (rule.verdict is Verdict.ALLOW or rule.reach.pattern is None):
            continue
        if _covers(rule.reach, request, piece, text, strict=rule.verdict is Verdict.ALLOW):
            return ToolDecision(verdict=rule.verdict, rule=rule, why=rule.why or f"decided by {rule.place}")
    return ToolDecision(verdict=Verdict.ASK_USER, rule=None, why="no rule applies to this")


def _covers(reach: RuleScope, request: ToolRequest, piece: SimpleCommand | None, text: str, *, strict: bool) -> bool:
    if not any(scope_covers(reach, request.tool, request.server, request.mode, name) for name in request.names):
        return False
    if reach.prefixes:
        test = begins_with if strict else may_begin_with
        if piece is None or not any(test(piece, prefix) for prefix in reach.prefixes):
            return False
    return reach.pattern is None or reach.pattern(text)


def _as_text(args: Mapping[str, Json]) -> str:
    """Return the arguments as JSON with sorted names, which patterns are matched against."""
    text = json.dumps(args, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)
    return text.encode("utf-8", "replace").decode("utf-8")


def _doubted(decided: ToolDecision, tool: str, ruleset: Ruleset) -> ToolDecision:
    """Ask the person instead of allowing, if an unreadable rule of the same or a higher tier may forbid it."""
    lost = ruleset.doubt(tool)
    if decided.verdict is not Verdict.ALLOW or decided.rule is None or lost is None:
        return decided
    if decided.rule.place.tier > lost.place.tier:
        return decided
    why = f"a rule that may forbid this could not be read: {lost}"
    return replace(decided, verdict=Verdict.ASK_USER, why=why, doubt=lost)


def asks_for_arguments(tool: str, ruleset: Ruleset) -> bool:
    """Return whether a rule or a check about this tool reads its arguments."""
    by_pattern = any(one.reach.pattern is not None and matches_any_name(tool, one.reach.tools) for one in ruleset.rules)
    return by_pattern or any(matches_any_name(tool, one.reach.tools) for one in ruleset.checks)


def _checked(
    request: ToolRequest, parts: tuple[SimpleCommand, ...], decided: ToolDecision, ruleset: Ruleset
) -> ToolDecision:
    use = ForeignToolUse(
        args=request.args,
        words=tuple(word.text for part in parts for word in part.words[1:]),
        cwd=request.cwd,
        roots=request.roots,
        resolve=request.resolve,
    )
    text = _as_text(request.args) if any(one.reach.pattern for one in ruleset.checks) else ""
    for one in ruleset.checks:
        # A check binds the rules of its own tier and below: a higher tier always wins.
        if decided.rule and decided.rule.place.tier > one.place.tier:
            continue
        if one.verdict.strictness <= decided.verdict.strictness:
            continue
        if not _reached(one.reach, request, parts, text):
            continue
        finding = check(one, use)
        if finding is not None:
            why = f"{one.checker}: {finding} ({one.place})"
            decided = replace(decided, verdict=one.verdict, why=why, check=one)
    return decided


def _reached(reach: RuleScope, request: ToolRequest, parts: tuple[SimpleCommand, ...], text: str) -> bool:
    return any(_covers(reach, request, part, text, strict=False) for part in (*parts, None))
