"""Lists, for each known agent, its configuration files and our entries in them."""

import json
import os
import shlex
import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from enum import StrEnum
from pathlib import Path, PurePath
from typing import cast

from recollectum.domain.records import dataclass
from recollectum.doors.cli.terminal.errors import Misuse

_TEXT = """\
// Written by `recollectum mcp install opencode`; `recollectum mcp uninstall opencode` removes it.
// It asks Recollectum what it remembers when a prompt is sent, and records each turn.
import { spawn } from "node:child_process"

const COMMAND = __COMMAND__

function call(event) {
  return new Promise((resolve) => {
    const done = (text) => {
      try { resolve(JSON.parse(text).hookSpecificOutput?.additionalContext ?? "") } catch { resolve("") }
    }
    try {
      const child = spawn(COMMAND[0], COMMAND.slice(1), { stdio: ["pipe", "pipe", "ignore"] })
      let text = ""
      const timer = setTimeout(() => { child.kill(); resolve("") }, 1000)
      child.on("error", () => resolve(""))
      child.stdin.on("error", () => {})
      child.stdout.on("data", (piece) => { text += piece })
      child.on("close", () => { clearTimeout(timer); done(text) })
      child.stdin.end(JSON.stringify(event))
    } catch { resolve("") }
  })
}

const words = (parts) => (parts ?? [])
  .filter((part) => part.type === "text" && !part.synthetic).map((part) => part.text).join("\\n")

export const Recollectum = async ({ client }) => {
  const recalled = new Map()
  return {
    "chat.message": async (input, output) => {
      // What is recalled is in no message, so it is sent with every request, and a new process has none of it.
      const id = input.sessionID, known = recalled.get(id)
      const event = { hook_event_name: "UserPromptSubmit", session_id: id, prompt: words(output.parts) }
      const context = await call(known === undefined ? { ...event, source: "resume" } : event)
      recalled.set(id, [known, context].filter(Boolean).join("\\n\\n"))
    },
    "experimental.chat.system.transform": async (input, output) => {
      const context = recalled.get(input?.sessionID)
      if (context) output.system.push(context)
    },
    "experimental.session.compacting": async (input) => {
      recalled.delete(input.sessionID)
      await call({ hook_event_name: "PreCompact", session_id: input.sessionID })
    },
    event: async ({ event }) => {
      if (event.type !== "session.idle") return
      const session_id = event.properties.sessionID
      try {
        const found = await client.session.messages({ path: { id: session_id } })
        const last = (found.data ?? []).filter((one) => one.info.role === "assistant").at(-1)
        const answer = words(last?.parts)
        if (answer) await call({ hook_event_name: "Stop", session_id, last_assistant_message: answer })
      } catch { /* What cannot be read is not recorded. */ }
    },
  }
}
"""


#: The beginning of the file that is wholly ours.
PLUGIN_MARK = "// Written by `recollectum mcp install opencode`"


def plugin_text(command: Sequence[str]) -> str:
    """Return the plugin that calls this command line."""
    return _TEXT.replace("__COMMAND__", json.dumps(list(command)))


#: Our name in the agents' configurations.
NAME = "recollectum"
#: A part of the command of every hook of ours, and of no other hook.
HOOK_MODULE = "recollectum.doors.hook"
#: The tools that an agent may be allowed to use without asking: none of them takes anything away.
HARMLESS_TOOLS = ("recall", "context", "list", "sessions", "remember")
_STARTUP_SECONDS = 30
_HOOK_SECONDS = 5


class KnownAgent(StrEnum):
    """The known agents."""

    CLAUDE_CODE = "claude-code"
    CODEX = "codex"
    GEMINI_CLI = "gemini-cli"
    OPENCODE = "opencode"
    CURSOR = "cursor"


#: As their makers write them.
AGENT_NAMES = {
    KnownAgent.CLAUDE_CODE: "Claude Code",
    KnownAgent.CODEX: "Codex",
    KnownAgent.GEMINI_CLI: "Gemini CLI",
    KnownAgent.OPENCODE: "opencode",
    KnownAgent.CURSOR: "Cursor",
}


def parse_agent(name: str) -> KnownAgent:
    """Return the agent of that name; raise with the nearest one."""
    if name in list(KnownAgent):
        return KnownAgent(name)
    near = get_close_matches(name, [one.value for one in KnownAgent], n=1, cutoff=0.4)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise Misuse(f"there is no agent {name!r}; {hint}known are {', '.join(KnownAgent)}")


class InstallScope(StrEnum):
    """Where an agent gets the entry: for everything this account does, or for one project."""

    USER = "user"
    PROJECT = "project"


class ConfigFormat(StrEnum):
    """The format of a file."""

    JSON = "json"
    TOML = "toml"
    #: A file that is wholly ours.
    OURS = "ours"


class EntryPart(StrEnum):
    """What an entry is for."""

    #: The tools.
    SERVER = "server"
    #: Recall and recording without a tool call.
    HOOKS = "hooks"
    #: Tools that the agent uses without asking.
    ALLOW = "allow"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigEntry:
    """A value at a path of names; with `item`, one of the list there."""

    path: tuple[str, ...]
    value: object
    item: bool = False
    part: EntryPart = EntryPart.SERVER

    def is_ours(self, value: object) -> bool:
        """Return whether an item of the list, or the value at the path, was written by us."""
        if self.part is EntryPart.HOOKS:
            return calls_our_hook(value)
        return value == self.value if self.part is EntryPart.ALLOW else _starts_our_server(value)


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigFile:
    """One file, and our entries in it."""

    path: Path
    form: ConfigFormat
    entries: tuple[ConfigEntry, ...] = ()
    #: The whole content of a file that is wholly ours and exists for the hooks.
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class InstallRequest:
    """What to write, for whom and where."""

    #: The program and its first arguments, to which `mcp` is added.
    server: Sequence[str]
    #: The program and its arguments that answer a hook, to which the agent is added.
    hook: Sequence[str]
    #: The person, and the home if it is not the default one.
    flags: Sequence[str]
    scope: InstallScope
    account: Path
    project: Path
    environ: Mapping[str, str]

    def serving(self) -> list[str]:
        """Return the command line of the server."""
        return [*self.server, "mcp", *self.flags]

    def hooking(self, agent: KnownAgent) -> list[str]:
        """Return the command line of a hook."""
        return [*self.hook, "--agent", agent.value, *self.flags]

    def folder(self, variable: str, usual: str) -> Path:
        """Return an agent's folder in this account, which a variable may have moved."""
        named = self.environ.get(variable, "")
        return Path(named) if named else self.account / usual


def documents(agent: KnownAgent, wanted: InstallRequest) -> list[ConfigFile]:
    """Return the files of one agent with all our entries."""
    return _MAKERS[agent](wanted)


def calls_our_hook(value: object) -> bool:
    """Return whether an item of a list of hooks calls us."""
    return any(HOOK_MODULE in text for text in _texts(value))


def _starts_our_server(value: object) -> bool:
    """Return whether the entry of a server starts `recollectum mcp`; somebody may have taken its name for another."""
    words = list(_texts(value))
    return "mcp" in words and any(PurePath(word).stem == NAME or word.startswith(f"{NAME}.") for word in words)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    inside = cast("dict[str, object]", value).values() if isinstance(value, dict) else value
    for inner in cast("Iterable[object]", inside) if isinstance(value, dict | list) else ():
        yield from _texts(inner)


def _claude_code(wanted: InstallRequest) -> list[ConfigFile]:
    command, *args = wanted.serving()
    server = ConfigEntry(path=("mcpServers", NAME), value={"type": "stdio", "command": command, "args": args})
    moved = wanted.environ.get("CLAUDE_CONFIG_DIR", "")
    if wanted.scope is InstallScope.PROJECT:
        # Not the settings that a project shares: the hook names a program of this machine.
        servers, settings = wanted.project / ".mcp.json", wanted.project / ".claude" / "settings.local.json"
    else:
        servers = (Path(moved) if moved else wanted.account) / ".claude.json"
        settings = wanted.folder("CLAUDE_CONFIG_DIR", ".claude") / "settings.json"
    moments = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
    hooks = _hooks(wanted, KnownAgent.CLAUDE_CODE, moments, _HOOK_SECONDS)
    return [_json(servers, [server]), _json(settings, [*hooks, *_allowed()])]


def _allowed() -> list[ConfigEntry]:
    names = [f"mcp__{NAME}__{tool}" for tool in HARMLESS_TOOLS]
    return [ConfigEntry(path=("permissions", "allow"), value=one, item=True, part=EntryPart.ALLOW) for one in names]


def _codex(wanted: InstallRequest) -> list[ConfigFile]:
    command, *args = wanted.serving()
    # Without `required` the first turn is sent before the server is up, and has none of its tools.
    values = {"command": command, "args": args, "required": True, "startup_timeout_sec": _STARTUP_SECONDS}
    project = wanted.scope is InstallScope.PROJECT
    folder = wanted.project / ".codex" if project else wanted.folder("CODEX_HOME", ".codex")
    server = ConfigFile(
        path=folder / "config.toml",
        form=ConfigFormat.TOML,
        entries=(ConfigEntry(path=("mcp_servers", NAME), value=values),),
    )
    moments = ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact", "SessionEnd")
    # It no longer reports the end of a session, and warns about hooks that ask for it.
    hooks = _hooks(wanted, KnownAgent.CODEX, moments, 3)
    return [server, _json(folder / "hooks.json", hooks)]


def _gemini_cli(wanted: InstallRequest) -> list[ConfigFile]:
    command, *args = wanted.serving()
    moved = wanted.environ.get("GEMINI_CLI_HOME", "")
    root = wanted.project if wanted.scope is InstallScope.PROJECT else Path(moved) if moved else wanted.account
    server = ConfigEntry(path=("mcpServers", NAME), value={"command": command, "args": args})
    moments = ("SessionStart", "BeforeAgent", "AfterAgent", "PreCompress", "SessionEnd")
    # Here the timeout is in milliseconds.
    hooks = _hooks(wanted, KnownAgent.GEMINI_CLI, moments, _HOOK_SECONDS * 1000)
    return [_json(root / ".gemini" / "settings.json", [server, *hooks])]


def _opencode(wanted: InstallRequest) -> list[ConfigFile]:
    config = wanted.environ.get("XDG_CONFIG_HOME", "")
    usual = (Path(config) if config else wanted.account / ".config") / "opencode"
    project = wanted.scope is InstallScope.PROJECT
    folder = wanted.project if project else Path(wanted.environ.get("OPENCODE_CONFIG_DIR", "") or usual)
    with_comments = folder / "opencode.jsonc"
    path = with_comments if with_comments.exists() else folder / "opencode.json"
    value = {"type": "local", "command": wanted.serving(), "enabled": True, "timeout": _STARTUP_SECONDS * 1000}
    plugins = (folder / ".opencode" if project else folder) / "plugin"
    plugin = ConfigFile(
        path=plugins / "recollectum.js", form=ConfigFormat.OURS, text=plugin_text(wanted.hooking(KnownAgent.OPENCODE))
    )
    return [_json(path, [ConfigEntry(path=("mcp", NAME), value=value)]), plugin]


def _cursor(wanted: InstallRequest) -> list[ConfigFile]:
    command, *args = wanted.serving()
    folder = (wanted.project if wanted.scope is InstallScope.PROJECT else wanted.account) / ".cursor"
    server = ConfigEntry(path=("mcpServers", NAME), value={"command": command, "args": args})
    call = _shell(wanted.hooking(KnownAgent.CURSOR))
    moments = ("sessionStart", "beforeSubmitPrompt", "afterAgentResponse", "preCompact", "sessionEnd")
    items = [
        ConfigEntry(path=("hooks", name), value={"command": call}, item=True, part=EntryPart.HOOKS) for name in moments
    ]
    form = ConfigEntry(path=("version",), value=1, part=EntryPart.HOOKS)
    return [_json(folder / "mcp.json", [server]), _json(folder / "hooks.json", [form, *items])]


def _hooks(wanted: InstallRequest, agent: KnownAgent, moments: Sequence[str], timeout: int) -> list[ConfigEntry]:
    call = {"type": "command", "command": _shell(wanted.hooking(agent)), "timeout": timeout}
    return [
        ConfigEntry(path=("hooks", name), value={"hooks": [call]}, item=True, part=EntryPart.HOOKS) for name in moments
    ]


def _json(path: Path, entries: Sequence[ConfigEntry]) -> ConfigFile:
    return ConfigFile(path=path, form=ConfigFormat.JSON, entries=tuple(entries))


def _shell(line: Sequence[str]) -> str:
    return subprocess.list2cmdline(line) if os.name == "nt" else shlex.join(line)


_MAKERS: Mapping[KnownAgent, Callable[[InstallRequest], list[ConfigFile]]] = {
    KnownAgent.CLAUDE_CODE: _claude_code,
    KnownAgent.CODEX: _codex,
    KnownAgent.GEMINI_CLI: _gemini_cli,
    KnownAgent.OPENCODE: _opencode,
    KnownAgent.CURSOR: _cursor,
}
