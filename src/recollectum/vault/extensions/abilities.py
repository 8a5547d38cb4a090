"""Says in sentences what an extension may do, and refuses rules and settings that an extension may not have."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import cast

from recollectum.domain.errors import ManifestError
from recollectum.domain.message import Json
from recollectum.home.extensions.contents import HANDED, SETTINGS, ExtensionContents
from recollectum.home.files import read_regular
from recollectum.home.policies import MAX_BYTES, parse_policy
from recollectum.policy.rules.model import RuleFile, Tier
from recollectum.settings.load import check_extension_settings

_WORDS = {"commands": "command", "skills": "skill", "agents": "agent"}


def describe_abilities(folder: Path, contents: ExtensionContents) -> tuple[str, ...]:
    """Return what an extension may do, a sentence each; raise when it has rules or settings that it may not have."""
    rules = [_rules(folder, name) for name in contents.policies]
    layer = None
    if SETTINGS in contents.files:
        layer = check_extension_settings(read_regular(folder / SETTINGS, MAX_BYTES), SETTINGS)
    problems = [str(one) for file in rules for one in file.problems] + (layer.problems if layer else [])
    if problems:
        raise ManifestError("\n".join(problems[:20]))
    return tuple(_sentences(contents, rules, layer.values if layer else {}))


def _sentences(contents: ExtensionContents, rules: list[RuleFile], settings: Mapping[str, object]) -> Iterator[str]:
    manifest = contents.manifest
    for name, config in manifest.servers.items():
        yield f"hands agents the MCP server {name!r}, which {_starts(config)}"
    for kind in HANDED:
        yield from (f"hands agents the {_WORDS[kind]} {name!r}" for name in contents.entries(kind))
    yield from (f"hands agents the text of {name} for their context" for name in contents.context_files)
    yield from (f"denies the tool {tool}" for tool in manifest.exclude_tools)
    for name, file in zip(contents.policies, rules, strict=True):
        count = len(file.rules) + len(file.checks)
        yield f"adds {count} {'rule' if count == 1 else 'rules'} of {name} to deny or ask, and never to allow"
    yield from (f"sets {key} to {value}, unless you set it" for key, value in settings.items())


def _starts(config: Mapping[str, Json]) -> str:
    if "command" not in config:
        return f"connects to {config.get('url') or config.get('httpUrl')}"
    arguments = cast("list[str]", config.get("args", []))
    return f"runs: {' '.join((str(config['command']), *arguments))}"


def _rules(folder: Path, name: str) -> RuleFile:
    return parse_policy(read_regular(folder / name, MAX_BYTES + 1), name, Tier.EXTENSION)
