"""Parses a TOML policy file into rules and checks, and reports each problem with its line."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.records import dataclass
from recollectum.policy.actions import Action
from recollectum.policy.rules.checkers import CHECKERS
from recollectum.policy.rules.matching import matches_any_name
from recollectum.policy.rules.model import Check, Place, Problem, Rule, RuleFile, RuleScope, Tier, Verdict
from recollectum.policy.rules.shell_commands import UnclearCommand, parse_command
from recollectum.policy.rules.unknown_actions import nearest_action

_HEADER = re.compile(r"\s*\[\[\s*(?P<name>[\w.-]+|\"[^\"]*\"|'[^']*')\s*\]\]\s*(?:#.*)?")
_OPENING = re.compile(r"\"\"\"|'''|\"(?:[^\"\\]|\\.)*+\"|'[^']*+'|#")


def header_lines(text: str) -> dict[str, list[int]]:
    """Return the lines of `[[name]]` for each name, in order; text inside a multi-line string is not counted."""
    found: dict[str, list[int]] = {}
    within = ""
    for number, line in enumerate(text.split("\n"), start=1):
        header = None if within else _HEADER.fullmatch(line.rstrip("\r"))
        if header:
            found.setdefault(header["name"].strip("\"'"), []).append(number)
        within = _string_after(line, within)
    return found


def _string_after(line: str, within: str) -> str:
    """Return the delimiter of the multi-line string that is still open at the end of the line, or an empty string."""
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
        # A quote after an odd number of backslashes is part of the string.
        before = len(line[:end]) - len(line[:end].rstrip("\\"))
        if before % 2 == 0:
            return end
        at = end + 1


#: Turns a pattern into a function that searches it in a text, or raises InvalidInput.
Compile = Callable[[str], Callable[[str], bool]]
Table = Mapping[str, object]
HIGHEST_PRIORITY = 999
_PLACE = re.compile(r" \(at (?:line (?P<line>\d+), column \d+|end of document)\)")
_RESTRICTS = re.compile(r"deny|ask_user|safety_checker", re.IGNORECASE)
#: Gemini CLI's spelling of our names.
_ALIASES = {"toolName": "tool", "commandPrefix": "command_prefix", "argsPattern": "args_pattern", "mcpName": "server"}
_REACH = frozenset(("tool", "server", "modes", "clients", "command_prefix", "args_pattern"))
_OF_RULE = _REACH | {"decision", "priority", "why"}
_OF_CHECK = _REACH | {"checker", "decision", "priority", "roots", "arguments", "names", "limit"}


_OF_EXTENSIONS = (Action.EXTENSION_READ, Action.EXTENSION_WRITE)


class _Wrong(ValueError):
    """Raised with a sentence about what is wrong with one rule."""


@dataclass(frozen=True, slots=True)
class _File:
    """The file that is being parsed."""

    name: str
    tier: Tier
    compiled: Compile


def parse_rules(text: str, file: str, tier: Tier, compiled: Compile) -> RuleFile:
    """Return every rule and check of the file, and every problem with its line."""
    try:
        tree: Table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return RuleFile(problems=(_not_toml(error, text, file, tier),))
    except (RecursionError, ValueError):
        return RuleFile(problems=(Problem(Place(file, 1, tier), "it holds a value that no rule can have", True),))
    return _from_tree(tree, text, _File(file, tier, compiled))


def _not_toml(error: tomllib.TOMLDecodeError, text: str, file: str, tier: Tier) -> Problem:
    found = _PLACE.search(str(error))
    line = int(found["line"]) if found and found["line"] else text.count("\n") + 1
    said = _PLACE.sub("", str(error))
    return Problem(
        Place(file, line, tier), f"it is not TOML: {said[:1].lower()}{said[1:]}", bool(_RESTRICTS.search(text))
    )


def _from_tree(tree: Table, text: str, file: _File) -> RuleFile:
    lines = header_lines(text)
    rules: list[Rule] = []
    checks: list[Check] = []
    problems: list[Problem] = []
    for name in tree:
        if name not in ("rule", "safety_checker"):
            what = f"{name!r} is not known here; write [[rule]] or [[safety_checker]]"
            problems.append(Problem(Place(file.name, 1, file.tier), what, bool(_RESTRICTS.search(text))))
    for name, place, table in _tables(tree, lines, file):
        try:
            if name == "rule":
                rules.append(_rule(table, place, file.compiled))
            else:
                checks.append(_check(table, place, file.compiled))
        except (_Wrong, InvalidInput) as error:
            harmless = name == "rule" and _plain(table).get("decision") == Verdict.ALLOW
            problems.append(Problem(place, str(error), not harmless, _meant(_plain(table))))
    problems += [problem for one in (*rules, *checks) for problem in _unknown_actions(one)]
    return RuleFile(tuple(rules), tuple(checks), tuple(problems))


def _unknown_actions(one: Rule | Check) -> Iterator[Problem]:
    """Yield a problem for each name that looks like one of our actions and is none; the rest of the rule holds."""
    if one.reach.servers:
        return
    for name in one.reach.tools:
        nearest = nearest_action(name)
        if nearest is not None:
            # It is not known what it should forbid, so no action of its noun is simply allowed.
            meant = f"{nearest.partition('.')[0]}.*"
            what = f"{_shown(name)} is not an action; the nearest is {nearest}"
            yield Problem(one.place, what, one.verdict is not Verdict.ALLOW, (meant,))


def _tables(tree: Table, lines: Mapping[str, list[int]], file: _File) -> Iterator[tuple[str, Place, object]]:
    for name in ("rule", "safety_checker"):
        found = tree.get(name, [])
        each = cast("list[object]", found) if isinstance(found, list) else [found]
        at = lines.get(name, [])
        for number, table in enumerate(each):
            # Inline tables, as in `rule = [{…}]`, have no header line.
            yield name, Place(file.name, at[number] if len(at) == len(each) else 1, file.tier), table


def _plain(table: object) -> dict[str, object]:
    """Return the table with our names."""
    if not isinstance(table, Mapping):
        return {}
    return {_ALIASES.get(key, key): value for key, value in cast("Table", table).items()}


def _meant(table: Table) -> tuple[str, ...]:
    """Return the tools that an invalid rule was about; empty if even that is not certain."""
    # An unknown name may have been meant as `server`, which makes the same word another tool.
    if not table.keys() <= _OF_RULE | _OF_CHECK or "server" in table:
        return ()
    try:
        return _texts(table, "tool")
    except _Wrong:
        return ()


def _rule(raw: object, place: Place, compiled: Compile) -> Rule:
    table = _known(raw, _OF_RULE, "a rule")
    verdict = _verdict(table.get("decision"))
    if place.tier in (Tier.PROJECT, Tier.EXTENSION) and verdict is Verdict.ALLOW:
        whose = "a project" if place.tier is Tier.PROJECT else "an extension"
        raise _Wrong(f"{whose} may not allow anything; write the rule into your own policy")
    why = table.get("why", "")
    if not isinstance(why, str):
        raise _Wrong("why must be a text")
    return Rule(
        place=place,
        reach=_reach_of(place, table, compiled),
        verdict=verdict,
        priority=_priority(table),
        why=" ".join(why.split()),
    )


def _check(raw: object, place: Place, compiled: Compile) -> Check:
    table = _known(raw, _OF_CHECK, "a safety_checker")
    verdict = _verdict(table.get("decision", Verdict.DENY))
    if verdict is Verdict.ALLOW:
        raise _Wrong("a safety_checker can only deny or ask_user")
    checker = table.get("checker")
    if isinstance(checker, Mapping):
        # Gemini CLI has a table here, with the name in it.
        checker = cast("Table", checker).get("name")
    if not isinstance(checker, str) or checker not in CHECKERS:
        raise _Wrong(f"checker is {_shown(checker)}; it must be one of {', '.join(CHECKERS)}")
    limit = table.get("limit")
    if limit is not None and (not isinstance(limit, int) or isinstance(limit, bool) or limit < 0):
        raise _Wrong("limit must be a number of characters")
    options = {name: _texts(table, name) for name in ("roots", "arguments", "names") if name in table}
    if limit is not None:
        options["limit"] = (str(limit),)
    reach = _reach_of(place, table, compiled)
    return Check(
        place=place,
        reach=reach,
        checker=checker,
        priority=_priority(table),
        verdict=verdict,
        options=tuple(options.items()),
    )


def _reach_of(place: Place, table: Mapping[str, object], compiled: Compile) -> RuleScope:
    """Return the scope of a rule; an extension has none over extensions, or it could prevent its own removal."""
    reach = _reach(table, compiled)
    is_wide = not reach.servers and any(matches_any_name(name, reach.tools) for name in _OF_EXTENSIONS)
    if place.tier is Tier.EXTENSION and is_wide:
        raise _Wrong("an extension may not have a rule about extensions, or about every tool; name the tools it needs")
    return reach


def _known(raw: object, names: frozenset[str], what: str) -> dict[str, object]:
    if not isinstance(raw, Mapping):
        raise _Wrong(f"{what} must be a table; begin it with [[{what.rpartition(' ')[2]}]]")
    table = _plain(cast("Table", raw))
    # A misspelt condition would leave a rule that covers more than intended.
    for name in table:
        if name not in names:
            raise _Wrong(f"{_shown(name)} is not part of {what}; use {', '.join(sorted(names))}")
    return table


def _verdict(value: object) -> Verdict:
    if isinstance(value, str) and value in tuple(Verdict):
        return Verdict(value)
    raise _Wrong(f"decision is {_shown(value)}; it must be allow, deny or ask_user")


def _priority(table: Table) -> int:
    value = table.get("priority", 0)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= HIGHEST_PRIORITY:
        raise _Wrong(f"priority is {_shown(value)}; it must be a whole number from 0 to {HIGHEST_PRIORITY}")
    return value


def _reach(table: Table, compiled: Compile) -> RuleScope:
    if "tool" not in table and "server" not in table:
        raise _Wrong('tool is missing; name one, or write tool = "*"')
    pattern = table.get("args_pattern")
    if pattern is not None and not isinstance(pattern, str):
        raise _Wrong("args_pattern must be a text")
    return RuleScope(
        tools=_texts(table, "tool") if "tool" in table else ("*",),
        servers=_texts(table, "server"),
        modes=_texts(table, "modes"),
        clients=_texts(table, "clients"),
        prefixes=tuple(_prefix(text) for text in _texts(table, "command_prefix")),
        args_pattern=pattern,
        pattern=None if pattern is None else compiled(pattern),
    )


def _texts(table: Table, name: str) -> tuple[str, ...]:
    """Return a text or a list of texts; raise for an empty list, which could mean all or nothing."""
    if name not in table:
        return ()
    value = table[name]
    each = cast("list[object]", value) if isinstance(value, list) else [value]
    texts = tuple(one for one in each if isinstance(one, str) and one.strip())
    if not texts or len(texts) != len(each):
        raise _Wrong(f"{name} must be a text or a list of texts, and not empty")
    return texts


def _prefix(text: str) -> tuple[str, ...]:
    try:
        found = parse_command(text)
    except UnclearCommand as unclear:
        raise _Wrong(f"command_prefix cannot be read: {unclear}") from unclear
    first = found[0]
    if len(found) > 1 or first.assigns or first.redirects or not all(word.certain for word in first.words):
        raise _Wrong("command_prefix must be the plain first words of one command")
    return tuple(word.text for word in first.words)


def _shown(value: object) -> str:
    if value is None:
        return "missing"
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:60] + "…"
