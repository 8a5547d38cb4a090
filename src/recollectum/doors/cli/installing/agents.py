"""The agents that Recollectum can be written into: which files, and what stands in them."""

import os
import shlex
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import cast

from recollectum.doors.cli.installing.opencode_plugin import plugin_text

#: The name under which agents know us.
NAME = "recollectum"
#: What every hook of ours has in its command, and nobody else's.
HOOK_MODULE = "recollectum.doors.hook"
_STARTUP_SECONDS = 30
_HOOK_SECONDS = 5


class Agent(StrEnum):
    """The agents that are known."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI_CLI = "gemini-cli"
    OPENCODE = "opencode"
    CURSOR = "cursor"


class Scope(StrEnum):
    """For which work an agent is told: everything this account does, or one project."""

    USER = "user"
    PROJECT = "project"


class Form(StrEnum):
    """How a file is written."""

    JSON = "json"
    TOML = "toml"
    #: A file that is wholly ours.
    OURS = "ours"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A value under some names; with `item`, one of a list there."""

    path: tuple[str, ...]
    value: object
    item: bool = False
    #: Whether it is only there for the hooks.
    hook: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One file, and what is ours in it."""

    path: Path
    form: Form
    entries: tuple[Entry, ...] = ()
    #: All of a file that is wholly ours, and is there for the hooks.
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What is to be written, for whom and where."""

    #: The program and its first arguments, to which `mcp` is added.
    server: Sequence[str]
    #: The program and its arguments that answer a hook, to which the agent is added.
    hook: Sequence[str]
    #: Which person, and which home where it is not the usual one.
    flags: Sequence[str]
    scope: Scope
    account: Path
    project: Path
    environ: Mapping[str, str]

    def serving(self) -> list[str]:
        """The command line of the server."""
        return [*self.server, "mcp", *self.flags]

    def hooking(self, agent: Agent) -> list[str]:
        """The command line of a hook."""
        return [*self.hook, "--agent", agent.value, *self.flags]

    def folder(self, variable: str, usual: str) -> Path:
        """An agent's own folder of this account, which a variable may have moved."""
        named = self.environ.get(variable, "")
        return Path(named) if named else self.account / usual


def documents(agent: Agent, wanted: Wanted) -> list[Document]:
    """The files of one agent with everything that is ours in them."""
    return _MAKERS[agent](wanted)


def is_ours(value: object) -> bool:
    """Whether an item of a list of hooks calls us."""
    if isinstance(value, str):
        return HOOK_MODULE in value
    if isinstance(value, dict):
        return any(map(is_ours, cast("dict[str, object]", value).values()))
    return isinstance(value, list) and any(map(is_ours, cast("list[object]", value)))


def _claude_code(wanted: Wanted) -> list[Document]:
    command, *args = wanted.serving()
    server = Entry(path=("mcpServers", NAME), value={"type": "stdio", "command": command, "args": args})
    moved = wanted.environ.get("CLAUDE_CONFIG_DIR", "")
    if wanted.scope is Scope.PROJECT:
        # Not the settings that a project shares: the hook names a program of this machine.
        servers, settings = wanted.project / ".mcp.json", wanted.project / ".claude" / "settings.local.json"
    else:
        servers = (Path(moved) if moved else wanted.account) / ".claude.json"
        settings = wanted.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"
    moments = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
    hooks = _hooks(wanted, Agent.CLAUDE_CODE, moments, _HOOK_SECONDS)
    return [_json(servers, [server]), _json(settings, hooks)]


def _codex(wanted: Wanted) -> list[Document]:
    command, *args = wanted.serving()
    # Without `required` the first turn goes out before the server is up, and has none of its tools.
    values = {"command": command, "args": args, "required": True, "startup_timeout_sec": _STARTUP_SECONDS}
    project = wanted.scope is Scope.PROJECT
    folder = wanted.project / ".codex" if project else wanted.folder("CODEX_HOME", ".codex")
    server = Document(
        path=folder / "config.toml", form=Form.TOML, entries=(Entry(path=("mcp_servers", NAME), value=values),)
    )
    moments = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
    # It gives the end of a session no more, and warns of whoever asks for it.
    hooks = _hooks(wanted, Agent.CODEX, moments, 3)
    return [server, _json(folder / "hooks.json", hooks)]


def _gemini_cli(wanted: Wanted) -> list[Document]:
    command, *args = wanted.serving()
    moved = wanted.environ.get("GEMINI_CLI_HOME", "")
    root = wanted.project if wanted.scope is Scope.PROJECT else Path(moved) if moved else wanted.account
    server = Entry(path=("mcpServers", NAME), value={"command": command, "args": args})
    moments = ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd")
    # There the time is in milliseconds.
    hooks = _hooks(wanted, Agent.GEMINI_CLI, moments, _HOOK_SECONDS * 1000)
    return [_json(root / ".gemini" / "settings.json", [server, *hooks])]


def _opencode(wanted: Wanted) -> list[Document]:
    config = wanted.environ.get("XDG_CONFIG_HOME", "")
    usual = (Path(config) if config else wanted.account / ".config") / "opencode"
    project = wanted.scope is Scope.PROJECT
    folder = wanted.project if project else Path(wanted.environ.get("OPENCODE_CONFIG_DIR", "") or usual)
    with_comments = folder / "opencode.jsonc"
    path = with_comments if with_comments.exists() else folder / "opencode.json"
    value = {"type": "local", "command": wanted.serving(), "enabled": True, "timeout": _STARTUP_SECONDS * 1000}
    plugins = (folder / ".opencode" if project else folder) / "plugin"
    plugin = Document(path=plugins / "recollectum.js", form=Form.OURS, text=plugin_text(wanted.hooking(Agent.OPENCODE)))
    return [_json(path, [Entry(path=("mcp", NAME), value=value)]), plugin]


def _cursor(wanted: Wanted) -> list[Document]:
    command, *args = wanted.serving()
    folder = (wanted.project if wanted.scope is Scope.PROJECT else wanted.account) / ".cursor"
    server = Entry(path=("mcpServers", NAME), value={"command": command, "args": args})
    call = _shell(wanted.hooking(Agent.CURSOR))
    moments = ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "preCompact", "sessionEnd")
    items = [Entry(path=("hooks", name), value={"command": call}, item=True, hook=True) for name in moments]
    form = Entry(path=("version",), value=1, hook=True)
    return [_json(folder / "mcp.json", [server]), _json(folder / "hooks.json", [form, *items])]


def _hooks(wanted: Wanted, agent: Agent, moments: Sequence[str], timeout: int) -> list[Entry]:
    call = {"type": "command", "command": _shell(wanted.hooking(agent)), "timeout": timeout}
    return [Entry(path=("hooks", name), value={"hooks": [call]}, item=True, hook=True) for name in moments]


def _json(path: Path, entries: Sequence[Entry]) -> Document:
    return Document(path=path, form=Form.JSON, entries=tuple(entries))


def _shell(line: Sequence[str]) -> str:
    return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)


_MAKERS: Mapping[Agent, Callable[[Wanted], list[Document]]] = {
    Agent.CLAUDE_CODE: _claude_code,
    Agent.CODEX: _codex,
    Agent.GEMINI_CLI: _gemini_cli,
    Agent.OPENCODE: _opencode,
    Agent.CURSOR: _cursor,
}
