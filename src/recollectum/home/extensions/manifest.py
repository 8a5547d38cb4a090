"""Reads the manifest of an extension, in our form or in that of Gemini CLI, and names everything wrong with it."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NoReturn, cast

from recollectum.domain.errors import InvalidInput, ManifestError
from recollectum.domain.files.extension import ExtensionManifest, ExtensionSetting
from recollectum.domain.message import Json
from recollectum.home.extensions.entry_names import RESERVED, check_entry_name
from recollectum.home.extensions.manifest_form import Flag, ListOf, MapOf, Member, Record, Text, Whole, shortened
from recollectum.home.files import read_regular

#: Our own file; it comes first where both are there.
NAME = "recollectum-extension.json"
GEMINI_NAME = "gemini-extension.json"
#: The version of our form.
FORM = 1
MAX_BYTES = 256 * 1024
#: Gemini CLI reads this file when its manifest names none.
_GEMINI_CONTEXT = "GEMINI.md"

_NAME = Text(
    wanted="1 to 64 lower-case letters, digits and hyphens, and begin with a letter or digit",
    pattern="[a-z0-9][a-z0-9-]{0,63}",
    longest=64,
)
_VERSION = Text(
    wanted="numbers with dots, such as 1.2.0, or 1.2.0-beta.1",
    pattern="[0-9]{1,9}(\\.[0-9]{1,9}){0,3}(-[0-9A-Za-z.-]{1,40})?(\\+[0-9A-Za-z.-]{1,40})?",
    longest=120,
)
_VARIABLE = Text(
    wanted="the name of an environment variable, such as WEATHER_KEY",
    pattern="[A-Za-z_][A-Za-z0-9_]{0,99}",
    longest=100,
)
_LINE = Text(wanted="a text on one line", pattern="[^\\x00-\\x1f\\x7f\\ud800-\\udfff]*")
_FREE = Text(wanted="a text without NUL", pattern="[^\\x00\\ud800-\\udfff]*")
_ADDRESS = Text(wanted="an address that begins with http:// or https://", pattern="https?://[^\\s/]\\S*")
_TEXTS = ListOf(item=_LINE)
_TRUST = (
    "is not for an extension to say, because it would let tools run without a question; leave it out, and allow "
    "tools by a policy of yours"
)

SERVER = Record(
    members={
        "command": Member(kind=_LINE, doc="The program that an agent starts."),
        "args": Member(kind=_TEXTS, doc="The arguments of the program."),
        "env": Member(kind=MapOf(names=_VARIABLE, item=_FREE), doc="Environment variables of the program."),
        "cwd": Member(kind=_LINE, doc="The working directory of the program."),
        "url": Member(kind=_ADDRESS, doc="The address of a server that speaks SSE or streamable HTTP."),
        "httpUrl": Member(kind=_ADDRESS, doc="The address of a server that speaks streamable HTTP."),
        "type": Member(
            kind=Text(wanted="stdio, sse or http", pattern="(stdio|sse|http)"), doc="The transport of the server."
        ),
        "headers": Member(kind=MapOf(names=_LINE, item=_LINE), doc="HTTP headers for the server."),
        "timeout": Member(kind=Whole(least=1, most=86_400_000), doc="The time limit of a request, in milliseconds."),
        "description": Member(kind=_LINE, doc="What the server is for."),
        "includeTools": Member(kind=_TEXTS, doc="The tools to use; all when it is left out."),
        "excludeTools": Member(kind=_TEXTS, doc="The tools not to use."),
    },
    refused={"trust": _TRUST},
    one_of=("command", "url", "httpUrl"),
)
_SETTING = Record(
    members={
        "name": Member(kind=_LINE, doc="The name that a person reads.", required=True),
        "envVar": Member(kind=_VARIABLE, doc="The environment variable that holds the value.", required=True),
        "description": Member(kind=_LINE, doc="What to write there."),
        "sensitive": Member(kind=Flag(), doc="Whether it is a secret."),
    }
)
SERVERS = MapOf(
    names=Text(
        wanted="1 to 64 letters, digits, dots, hyphens and underscores",
        pattern="[A-Za-z0-9][A-Za-z0-9._-]{0,63}",
        longest=64,
    ),
    item=SERVER,
)
_MEMBERS = {
    "name": Member(kind=_NAME, doc="The name of the extension.", required=True),
    "version": Member(kind=_VERSION, doc="The version, by which updates are ordered.", required=True),
    "description": Member(kind=_LINE, doc="What the extension is for."),
    "mcpServers": Member(kind=SERVERS, doc="MCP servers for agents to start, by name."),
    "contextFileName": Member(
        kind=ListOf(item=_LINE, single=True, most=20), doc="Files with text for the context of agents."
    ),
    "excludeTools": Member(kind=_TEXTS, doc="Tools that are denied, such as run_shell_command(rm)."),
    "settings": Member(kind=ListOf(item=_SETTING, most=50), doc="Values that the person gives."),
}
MANIFEST = Record(
    members={"schema": Member(kind=Whole(least=FORM, most=FORM), doc="The form.", required=True), **_MEMBERS}
)
_GEMINI = Record(members=_MEMBERS)


def json_schema() -> dict[str, Json]:
    """Return our form of a manifest as a JSON Schema."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Manifest of a Recollectum extension",
        **MANIFEST.schema(),
    }


def read_manifest(folder: Path, source: Path | None = None) -> ExtensionManifest:
    """Return the manifest of a folder; raise with a sentence for each problem, a line each.

    `source` is where the files of a staging folder came from, for a message.
    """
    for name in (NAME, GEMINI_NAME):
        try:
            data = read_regular(folder / name, MAX_BYTES)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise InvalidInput(
                f"{folder / name} cannot be read ({error.strerror}); correct its owner or mode"
            ) from None
        return parse_manifest(data, name)
    raise InvalidInput(f"{source or folder} has neither {NAME} nor {GEMINI_NAME}; name the folder that has one of them")


def parse_manifest(data: bytes, file: str) -> ExtensionManifest:
    """Return the manifest in some bytes; `file` is one of the two names."""
    document = read_object(data, file)
    is_ours = file == NAME
    ignored: tuple[str, ...] = ()
    if not is_ours:
        # Another program has fields that say nothing to us.
        ignored, document = _without_unknown(document)
    found = [*(MANIFEST if is_ours else _GEMINI).problems(document, "")]
    found = found or [*_more_problems(document)]
    if found:
        raise ManifestError("\n".join(f"{file}: {one}" for one in found[:_MOST_TOLD]))
    return _manifest(document, file, ignored)


_MOST_TOLD = 20


def _without_unknown(document: dict[str, Any]) -> tuple[tuple[str, ...], dict[str, Any]]:
    """Return the fields that only another program knows, and the document without them."""
    ignored = [name for name in document if name not in _MEMBERS]
    kept = {name: value for name, value in document.items() if name in _MEMBERS}
    servers: object = kept.get("mcpServers")
    if isinstance(servers, dict):
        kept["mcpServers"] = {**servers}
        for name, config in cast("dict[str, object]", servers).items():
            if isinstance(config, dict):
                fields = cast("dict[str, object]", config)
                known = {*SERVER.members, *SERVER.refused}
                ignored += [f"mcpServers.{name}.{one}" for one in fields if one not in known]
                kept["mcpServers"][name] = {one: value for one, value in fields.items() if one in known}
    return tuple(sorted(shortened(one) for one in ignored)), kept


def read_object(data: bytes, file: str) -> dict[str, Any]:
    """Return the JSON object in some bytes; refuse a name that is there twice, and numbers that JSON does not have."""
    try:
        found: object = json.loads(data.decode("utf-8-sig"), object_pairs_hook=_unique, parse_constant=_not_a_number)
    except UnicodeDecodeError as error:
        raise InvalidInput(
            f"{file} is not UTF-8 on line {data.count(10, 0, error.start) + 1}; save the file in that encoding"
        ) from None
    except json.JSONDecodeError as error:
        said = f"{error.msg[:1].lower()}{error.msg[1:]}"
        raise InvalidInput(f"{file} line {error.lineno} is not JSON: {said}; correct that line") from None
    except (RecursionError, ValueError):
        raise InvalidInput(f"{file} contains a value that no manifest can have; remove it") from None
    except _TwiceError as error:
        raise InvalidInput(f"{file}: {error} is there twice; keep one of them") from None
    if not isinstance(found, dict):
        raise InvalidInput(f"{file} is not a JSON object; begin it with a brace")
    return cast("dict[str, Any]", found)


class _TwiceError(Exception):
    pass


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        raise _TwiceError(ascii(next(name for name in names if names.count(name) > 1))[:80])
    return found


def _not_a_number(text: str) -> NoReturn:
    raise ValueError(text)


def _more_problems(document: Mapping[str, Any]) -> list[str]:
    """Return what the kinds of the fields cannot say."""
    found: list[str] = []
    if document["name"] in RESERVED:
        found.append(f"name is {document['name']!r}, which Windows keeps for a device; choose another")
    for number, file in enumerate(_listed(document.get("contextFileName", []))):
        try:
            check_entry_name(file)
        except InvalidInput as error:
            found.append(f"contextFileName.{number}: {error}")
    variables = [one["envVar"] for one in document.get("settings", [])]
    found += [
        f"settings name {one} twice; keep one of them" for one in dict.fromkeys(variables) if variables.count(one) > 1
    ]
    for number, tool in enumerate(document.get("excludeTools", [])):
        if split_tool(tool) is None:
            wanted = "the name of a tool, or a tool with the first words of a command, such as run_shell_command(rm)"
            found.append(f"excludeTools.{number} is {tool!r:.60}; it must be {wanted}")
    return found


_TOOL = re.compile(r"(?!extension\.)([A-Za-z0-9_.:-]{1,128})(?:\(([^()\n]{1,500})\))?")


def split_tool(text: str) -> tuple[str, str] | None:
    """Return a tool and the first words of a command, as `excludeTools` names both; None for another text."""
    found = _TOOL.fullmatch(text)
    return (found[1], found[2] or "") if found else None


def _manifest(document: Mapping[str, Any], file: str, ignored: tuple[str, ...]) -> ExtensionManifest:
    files = _listed(document.get("contextFileName", [_GEMINI_CONTEXT] if file == GEMINI_NAME else []))
    return ExtensionManifest(
        name=document["name"],
        version=document["version"],
        description=document.get("description", ""),
        servers=document.get("mcpServers", {}),
        context_files=tuple(dict.fromkeys(files)),
        exclude_tools=tuple(document.get("excludeTools", ())),
        settings=tuple(
            ExtensionSetting(
                name=one["name"],
                variable=one["envVar"],
                description=one.get("description", ""),
                secret=one.get("sensitive", False),
            )
            for one in document.get("settings", ())
        ),
        file=file,
        ignored=ignored,
    )


def _listed(value: Any) -> list[str]:  # noqa: ANN401 - a checked value of the document
    return [value] if isinstance(value, str) else list(value)


def version_order(version: str) -> tuple[tuple[int, ...], bool, tuple[tuple[bool, int, str], ...]]:
    """Return what orders versions: the numbers, then a beta before its release, then the parts of its name."""
    numbers, dash, rest = version.partition("+")[0].partition("-")
    found = [int(one) for one in numbers.split(".")]
    while found and found[-1] == 0:
        found.pop()
    parts = tuple((not one.isdigit(), int(one) if one.isdigit() else 0, one) for one in rest.split("."))
    return tuple(found), not dash, parts
