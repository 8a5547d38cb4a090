"""`recollectum policy`: checks policy files, explains a decision, and tests rules against cases."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from recollectum.domain.errors import InvalidInput, NotFound
from recollectum.domain.message import Json
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, listing, note, plural
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import home_of
from recollectum.home.files import read_regular
from recollectum.home.trusted_projects import find_trusted
from recollectum.settings.load import SYSTEM_FOLDER, SYSTEM_VARIABLE

if TYPE_CHECKING:
    from recollectum.policy.rules.decisions import ToolDecision
    from recollectum.policy.rules.matching import Ruleset
    from recollectum.policy.rules.model import Check, Problem, Rule

_MOST_BYTES = 16 * 1024 * 1024

app = new_group("Check the rules about tools and memory, and see what they decide.")

With = Annotated[
    list[str] | None, typer.Option("--with", metavar="PATH", help="Add the rules of a file or folder, as yours.")
]


@command(app, "check")
def check(
    run: Run,
    files: Annotated[
        list[str] | None, typer.Argument(metavar="[FILES]...", help="Files or folders; default: all that are in force.")
    ] = None,
) -> None:
    """Read policy files, and name every problem with its file and line."""
    found = _of_files(files) if files else in_force(run)
    document = {
        "rules": len(found.rules),
        "safety_checkers": len(found.checks),
        "problems": [_problem(one) for one in found.problems],
    }
    lines = [one_line(str(one)) for one in found.problems]
    lines.append(
        f"{plural(len(found.rules), 'rule')}, {plural(len(found.checks), 'safety checker')}, "
        f"{plural(len(found.problems), 'problem')}"
    )
    answer(run, document, lines)
    if found.problems:
        count = plural(len(found.problems), "problem")
        raise InvalidInput(f"the policies have {count}; correct each at the line given")


@command(app, "explain")
def explain(
    run: Run,
    tool: Annotated[str, typer.Argument(metavar="TOOL", help="A tool, or an action such as memory.search.")],
    *,
    args: Annotated[str, typer.Option("--args", metavar="JSON", help="Its arguments, as a JSON object.")] = "{}",
    mode: Annotated[str, typer.Option("--mode", metavar="MODE", help="The approval mode.")] = "default",
    client: Annotated[str | None, typer.Option("--client", metavar="NAME", help="Who asks.")] = None,
    server: Annotated[str | None, typer.Option("--server", metavar="NAME", help="The MCP server of the tool.")] = None,
    with_: With = None,
) -> None:
    """Show the decision about one use of a tool, and the rule that made it."""
    # Imported here: only these commands need the rule engine.
    from recollectum.policy.rules.decisions import ToolRequest, decide  # noqa: PLC0415
    from recollectum.policy.rules.unknown_actions import nearest_action  # noqa: PLC0415

    if not tool:
        raise InvalidInput("the tool is empty; name one, such as memory.search")
    cwd = Path.cwd()
    request = ToolRequest(
        tool=tool,
        args=_arguments(args),
        mode=mode,
        client=client or "",
        server=server or "",
        cwd=cwd,
        roots=_roots(run, cwd),
    )
    rules = in_force(run, with_)
    _tell(rules)
    if not server and (nearest := nearest_action(tool)):
        note(f"recollectum: {tool!r} is not an action; the nearest is {nearest}")
    decided = decide(request, rules)
    pairs = [
        ("decision", decided.verdict),
        ("rule", decided.rule.place if decided.rule else "none"),
        ("checker", decided.check.place if decided.check else None),
        ("why", decided.why),
    ]
    answer(run, _decision(decided), listing(pairs))


@command(app, "test")
def try_cases(
    run: Run,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A TOML file of [[case]] tables.")],
    *,
    with_: With = None,
) -> None:
    """Test the rules against cases with expected decisions."""
    from recollectum.policy.rules.cases import failures, parse_cases  # noqa: PLC0415 - see above

    try:
        text = read_regular(file, _MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{file} is not UTF-8; save the file in that encoding") from error
    cases = parse_cases(text, str(file))
    rules = in_force(run, with_)
    _tell(rules)
    cwd = Path.cwd()
    wrong = failures(cases, rules, cwd, _roots(run, cwd))
    document = {
        "cases": len(cases),
        "failed": [
            {"line": case.line, "name": case.name, "expected": case.expected, **_decision(one)} for case, one in wrong
        ],
    }
    lines = [
        one_line(f"{file}:{case.line}: {case.name}: expected {case.expected}, but {one.verdict}: {one.why}")
        for case, one in wrong
    ]
    answer(run, document, [*lines, f"{plural(len(cases), 'case')}, {len(wrong)} failed"])
    if wrong:
        raise InvalidInput(f"{plural(len(wrong), 'case')} of {len(cases)} failed; correct the rules or the cases")


def in_force(run: Run, more: list[str] | None = None) -> "Ruleset":
    """Return the rules of every tier here, and those of the files on the command line."""
    # Imported here: reading rules needs a parser that no other command needs.
    from recollectum.home.policies import load_policies  # noqa: PLC0415
    from recollectum.policy.rules.matching import build_ruleset  # noqa: PLC0415
    from recollectum.policy.rules.model import RuleFile  # noqa: PLC0415

    home = home_of(run)
    if not home.root.is_dir():
        raise NotFound(f"there is no home at {home.root} yet; make it with: recollectum init")
    system = Path(run.environ.get(SYSTEM_VARIABLE) or SYSTEM_FOLDER)
    found = [load_policies(home, find_trusted(Path.cwd(), home), system)]
    found += [_of_files(more)] if more else []
    return build_ruleset(RuleFile(one.rules, one.checks, one.problems) for one in found)


def _of_files(names: list[str]) -> "Ruleset":
    from recollectum.home.policies import load_files  # noqa: PLC0415 - see above

    for name in names:
        if not name or not Path(name).exists():
            raise NotFound(f"there is no file or folder {name!r} to read rules from")
    return load_files(Path(name) for name in names)


def _roots(run: Run, cwd: Path) -> tuple[Path, ...]:
    project = find_trusted(cwd, home_of(run))
    return (project.root,) if project else (cwd,)


def _arguments(text: str) -> Mapping[str, Json]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidInput('--args is not JSON; write an object, such as \'{"command": "git status"}\'') from error
    if not isinstance(found, dict):
        raise InvalidInput("--args is not a JSON object; begin it with a brace")
    return cast("Mapping[str, Json]", found)


def _tell(rules: "Ruleset") -> None:
    for problem in rules.problems:
        note(f"recollectum: {problem}")


def _decision(decided: "ToolDecision") -> dict[str, object]:
    return {
        "decision": decided.verdict,
        "rule": _written(decided.rule),
        "safety_checker": _written(decided.check),
        "why": decided.why,
    }


def _written(one: "Rule | Check | None") -> dict[str, object] | None:
    if one is None:
        return None
    return {"file": one.place.file, "line": one.place.line, "tier": str(one.place.tier), "priority": one.priority}


def _problem(one: "Problem") -> dict[str, object]:
    return {"file": one.place.file, "line": one.place.line, "tier": str(one.place.tier), "problem": one.what}
