"""Test cases for a set of rules: uses of tools, each with the expected verdict."""

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import cast

from recollectum.domain.errors import InvalidInput
from recollectum.domain.message import Json
from recollectum.domain.records import dataclass
from recollectum.policy.rules.decisions import DEFAULT_MODE, ToolDecision, ToolRequest, decide
from recollectum.policy.rules.matching import Ruleset
from recollectum.policy.rules.model import Verdict
from recollectum.policy.rules.policy_file import header_lines

_FIELDS = frozenset(("name", "tool", "args", "mode", "client", "server", "expect"))


@dataclass(frozen=True, slots=True)
class Case:
    """A use of a tool, the expected verdict, and its line in the file."""

    line: int
    name: str
    request: ToolRequest
    expected: Verdict


def parse_cases(text: str, file: str) -> tuple[Case, ...]:
    """Return every `[[case]]` of the text; raise, with its line, for the first invalid one."""
    try:
        tree: Mapping[str, object] = tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError, ValueError) as error:
        raise InvalidInput(f"{file} is not TOML: {error}") from error
    found = tree.get("case")
    if not isinstance(found, list) or not found or len(tree) > 1:
        raise InvalidInput(f"{file} has no cases; begin each with [[case]], and write nothing else")
    lines = header_lines(text).get("case", [])
    each = cast("list[object]", found)
    return tuple(
        _case(table, f"{file}:{line}", line)
        for table, line in zip(each, lines if len(lines) == len(each) else [1] * len(each), strict=True)
    )


def failures(
    cases: tuple[Case, ...], ruleset: Ruleset, cwd: Path, roots: tuple[Path, ...]
) -> list[tuple[Case, ToolDecision]]:
    """Return the cases with another verdict than the expected one."""
    decided = [(case, decide(replace(case.request, cwd=cwd, roots=roots), ruleset)) for case in cases]
    return [(case, one) for case, one in decided if one.verdict is not case.expected]


def _case(raw: object, where: str, line: int) -> Case:
    if not isinstance(raw, Mapping):
        raise InvalidInput(f"{where} is not a table; begin it with [[case]]")
    table = cast("Mapping[str, object]", raw)
    if unknown := sorted(set(table) - _FIELDS):
        raise InvalidInput(f"{where}: {unknown[0]!r} is not part of a case; use {', '.join(sorted(_FIELDS))}")
    expected = table.get("expect")
    if not isinstance(expected, str) or expected not in tuple(Verdict):
        raise InvalidInput(f"{where}: expect must be allow, deny or ask_user")
    args = table.get("args", {})
    if not isinstance(args, Mapping):
        raise InvalidInput(f"{where}: args must be a table, such as {{command = 'git status'}}")
    request = ToolRequest(
        tool=_text(table, "tool", where),
        args=cast("Mapping[str, Json]", args),
        mode=_text(table, "mode", where, DEFAULT_MODE),
        client=_text(table, "client", where, ""),
        server=_text(table, "server", where, ""),
    )
    return Case(line, _text(table, "name", where, request.tool), request, Verdict(expected))


def _text(table: Mapping[str, object], name: str, where: str, otherwise: str | None = None) -> str:
    value = table.get(name, otherwise)
    if not isinstance(value, str):
        raise InvalidInput(f"{where}: {name} must be a text")
    return value
