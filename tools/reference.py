"""Writes the generated reference pages: `python -m tools.reference docs/reference`."""

import json
import sys
from collections.abc import Iterator
from dataclasses import fields
from enum import Enum
from pathlib import Path
from typing import cast

from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption

from recollectum.domain.access.caller import ApiKey, Grant
from recollectum.domain.access.person import Person, Tenant
from recollectum.domain.event import Event
from recollectum.domain.files.extension import Extension, ExtensionFile
from recollectum.domain.files.note import NoteFolder, SyncReport
from recollectum.domain.hit import Hit, Reasons, Source
from recollectum.domain.memory import Memory, Version
from recollectum.domain.message import Message, TokenCount, ToolCall
from recollectum.domain.session import Session
from recollectum.doors.cli.commands.people.status import ProjectStatus, VaultStatus
from recollectum.doors.cli.main import PROGRAM, program
from recollectum.home.extensions.manifest import json_schema
from recollectum.home.keys.holders import KeyHolder
from recollectum.settings.render import reference_page
from recollectum.vault.index import GenerationStatus, IndexStatus
from recollectum.vault.retention.lifecycle import DueMove, LifecycleReport
from tools.python_reference import python_page

Command = TyperCommand | TyperGroup
Parameter = TyperArgument | TyperOption

_GLOBAL = frozenset({"json", "user", "home", "help"})
_MADE = "This page is made from the code by `make docs`; change it there."
_SHAPES = (
    *(Memory, Version, Session, Message, ToolCall, TokenCount, Hit, Source, Reasons, Event, DueMove),
    *(
        LifecycleReport,
        NoteFolder,
        SyncReport,
        IndexStatus,
        GenerationStatus,
        Person,
        Tenant,
        ApiKey,
        Grant,
        KeyHolder,
        VaultStatus,
        ProjectStatus,
        Extension,
        ExtensionFile,
    ),
)


def pages() -> dict[str, str]:
    """Return every page by its file name."""
    return {
        "cli.md": cli_page(),
        "settings.md": settings_page(),
        "python.md": python_page(_MADE),
        "extension-manifest.schema.json": json.dumps(json_schema(), indent=2) + "\n",
    }


def commands() -> Iterator[tuple[str, Command]]:
    """Yield every command and group by its words, in the order of the help."""
    yield from _below(PROGRAM, program())


def cli_page() -> str:
    """Return every command with its arguments and options, and the keys of its JSON answer."""
    parts = ["# Command line", _MADE, _SHARED]
    for path, command in commands():
        parts += [f"## `{path}`", *_about(path, command)]
    return "\n\n".join([*parts, "## JSON", _JSON, "\n".join(map(_shape, _SHAPES))]) + "\n"


_SHARED = """Every command takes these, before or after its name:

| option | what it does |
|---|---|
| `--json` | Answer as JSON. |
| `--user NAME` | Whose vault: a name, or an owner such as `agent:coder` or `global`. |
| `--home PATH` | The state directory. |
| `--help` | Say what the command does. |"""

_JSON = """With `--json` a command prints one object on stdout. Its values have these keys; a value that is not known is
`null`, and a time is ISO 8601 in UTC. An owner, a session key and an identity are written as their text. An error is
one object on stderr: `{"error": {"type": …, "message": …}}`."""


def settings_page() -> str:
    """Return the page of all settings."""
    return f"# Settings\n\n{_MADE}\n\n{reference_page()}"


def write(folder: Path) -> None:
    """Write every page into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


def _below(path: str, command: Command) -> Iterator[tuple[str, Command]]:
    yield path, command
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _below(f"{path} {name}", cast("Command", inner))


def _about(path: str, command: Command) -> Iterator[str]:
    given = [one for one in cast("list[Parameter]", command.params) if one.name not in _GLOBAL and not one.hidden]
    arguments = [one for one in given if one.param_type_name == "argument"]
    options = [one for one in given if one.param_type_name == "option"]
    yield (command.help or "").strip()
    if isinstance(command, TyperGroup):
        yield "\n".join(f"- [`{path} {name}`](#{_anchor(f'{path} {name}')})" for name in command.commands)
    else:
        words = [_argument(one) if one.required else f"[{_argument(one)}]" for one in arguments]
        yield "`" + " ".join([path, *words, *(["[OPTIONS]"] if options else [])]) + "`"
    if arguments:
        yield _table("argument", [(f"`{_argument(one)}`", _words(one)) for one in arguments])
    if options:
        yield _table("option", [(f"`{_option(one)}`", _words(one)) for one in options])


def _table(what: str, rows: list[tuple[str, str]]) -> str:
    lines = (f"| {name} | {words} |" for name, words in rows)
    return "\n".join([f"| {what} | what it does |", "|---|---|", *lines])


def _argument(argument: Parameter) -> str:
    return argument.metavar or argument.name.upper()


def _option(option: Parameter) -> str:
    name = option.opts[0]
    if getattr(option, "is_flag", False):
        return name
    return f"{name} {option.metavar or name.strip('-').upper()}"


def _words(parameter: Parameter) -> str:
    text = (parameter.help or "").replace("|", "\\|")
    usual: object = parameter.default
    shown = usual.value if isinstance(usual, Enum) else usual
    return text if shown in (None, False, "-") or callable(shown) else f"{text} Default: `{shown}`."


def _anchor(heading: str) -> str:
    return heading.lower().replace(" ", "-")


def _shape(shape: type) -> str:
    keys = ", ".join(f"`{one.name}`" for one in fields(shape))
    return f"- **{shape.__name__}**: {keys}"


if __name__ == "__main__":
    write(Path(sys.argv[1]))
