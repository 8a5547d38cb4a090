"""Loads the policy files of all tiers: shipped, extensions, project, person and operator."""

import stat
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module, resources
from pathlib import Path
from typing import Any

from recollectum.domain.errors import InvalidInput
from recollectum.home.extensions.manifest import split_tool
from recollectum.home.extensions.merged import Restrictions, restrictions
from recollectum.home.install_command import install_command
from recollectum.home.paths import Home
from recollectum.home.project import ProjectFolder
from recollectum.policy.rules.matching import Ruleset, build_ruleset
from recollectum.policy.rules.model import Place, Problem, Rule, RuleFile, RuleScope, Tier, Verdict
from recollectum.policy.rules.policy_file import parse_rules

FOLDER = "policies"
MAX_BYTES = 256 * 1024

_LONGEST_PATTERN = 2000


def load_policies(home: Home, project: ProjectFolder | None, system: Path | None) -> Ruleset:
    """Return the rules in force; an invalid file is reported as a problem, and the other files apply."""
    files = [*shipped_policies()]
    for one in restrictions(home, project):
        files += _extension_files(one)
    if project is not None:
        files += _project_files(project)
    files += _folder(home.folder(FOLDER), Tier.USER)
    if system is not None:
        files += _folder(system / FOLDER, Tier.ADMIN)
    return build_ruleset(files)


def load_files(paths: Iterable[Path], tier: Tier = Tier.USER) -> Ruleset:
    """Return the rules of just these files and of the files in these folders."""
    each = (file for path in paths for file in (_files_of(path) if path.is_dir() else [path]))
    return build_ruleset(read_policy(path, tier) for path in each)


def read_policy(path: Path, tier: Tier) -> RuleFile:
    """Return the rules of one file, or the problem why it cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return _unreadable(path, tier, "it is not a file; move what is there out of the way")
        with path.open("rb") as file:
            data = file.read(MAX_BYTES + 1)
    except OSError as error:
        return _unreadable(path, tier, f"it cannot be read ({error.strerror}); correct its name, owner or mode")
    return parse_policy(data, str(path), tier)


def parse_policy(data: bytes, file: str, tier: Tier) -> RuleFile:
    """Parse the bytes of a policy file."""
    if len(data) > MAX_BYTES:
        return _unreadable(file, tier, f"it is larger than {MAX_BYTES // 1024} KiB; split it")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return _unreadable(file, tier, "it is not UTF-8; save the file in that encoding", line)
    return parse_rules(text, file, tier, compile_pattern)


def shipped_policies() -> tuple[RuleFile, ...]:
    """Return the rule sets that come with Recollectum."""
    folder = resources.files("recollectum.policy").joinpath("rulesets")
    names = sorted(entry.name for entry in folder.iterdir() if entry.name.endswith(".toml"))
    return tuple(parse_policy(folder.joinpath(name).read_bytes(), f"shipped/{name}", Tier.DEFAULT) for name in names)


def compile_pattern(pattern: str) -> Callable[[str], bool]:
    """Return a matcher for a pattern, by an engine whose time grows linearly with the text."""
    engine = _engine()
    if engine is None:
        raise InvalidInput(f"args_pattern needs the package google-re2; run: {install_command('google-re2')}")
    if len(pattern) > _LONGEST_PATTERN:
        raise InvalidInput(f"args_pattern is longer than {_LONGEST_PATTERN} characters; shorten it")
    options: Any = engine.Options()
    options.log_errors = False
    # Capture groups are not needed, and they make RE2 many times slower.
    options.never_capture = True
    try:
        made: Any = engine.compile(pattern, options=options)
    except (engine.error, ValueError) as error:
        raise InvalidInput(
            "args_pattern is not a pattern that RE2 knows; it has no look-around or references"
        ) from error
    return lambda text: made.search(text) is not None


@cache
def _engine() -> Any:  # noqa: ANN401 - the package has no types
    """Return RE2, when it is installed. Python's own engine is no substitute: some patterns take exponential time."""
    try:
        return import_module("re2")
    except ImportError:
        return None


def _folder(folder: Path, tier: Tier) -> list[RuleFile]:
    """Return the files of a folder; an unreadable folder counts as one that may forbid anything."""
    try:
        return [read_policy(path, tier) for path in _files_of(folder)]
    except OSError as error:
        return [_unreadable(folder, tier, f"it cannot be listed ({error.strerror}); correct its owner or mode")]


def _extension_files(one: Restrictions) -> list[RuleFile]:
    """Return the rules of an extension; one that cannot be read may have denied something."""
    if one.problem:
        return [_unreadable(one.manifest, Tier.EXTENSION, one.problem)]
    place = Place(str(one.manifest), 1, Tier.EXTENSION)
    denied = [_denied(place, *found) for tool in one.exclude_tools if (found := split_tool(tool))]
    files = [parse_policy(data, str(path), Tier.EXTENSION) for path, data in one.policies]
    return [RuleFile(rules=tuple(denied)), *files]


def _denied(place: Place, tool: str, prefix: str) -> Rule:
    reach = RuleScope(tools=(tool,), prefixes=(tuple(prefix.split()),) if prefix.split() else ())
    return Rule(place=place, reach=reach, verdict=Verdict.DENY, why="the extension excludes this tool")


def _project_files(project: ProjectFolder) -> list[RuleFile]:
    found: list[RuleFile] = []
    try:
        paths = _files_of(project.folder(FOLDER))
    except OSError as error:
        return [_unreadable(project.folder(FOLDER), Tier.PROJECT, f"it cannot be listed ({error.strerror})")]
    for path in paths:
        try:
            project.check_inside(path)
        except InvalidInput as error:
            found.append(_unreadable(path, Tier.PROJECT, str(error)))
        else:
            found.append(read_policy(path, Tier.PROJECT))
    return found


def _files_of(folder: Path) -> list[Path]:
    try:
        return sorted(path for path in folder.iterdir() if path.suffix == ".toml" and not path.name.startswith("."))
    except (FileNotFoundError, NotADirectoryError):
        return []


def _unreadable(path: Path | str, tier: Tier, what: str, line: int = 1) -> RuleFile:
    return RuleFile(problems=(Problem(Place(str(path), line, tier), what),))
