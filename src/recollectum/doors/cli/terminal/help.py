"""Shows the commands in groups, with nothing cut, and suggests the command that a wrong name meant."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from difflib import get_close_matches
from typing import Any, NoReturn, Protocol

from typer.core import TyperGroup

from recollectum.doors.cli.terminal.errors import Misuse

#: The commands of the first page by group; each sentence fits on a line of 80 columns.
PANELS: Mapping[str, Mapping[str, str]] = {
    "Every day": {
        "init": "Create the home, your vault and a recovery code.",
        "remember": "Save a text verbatim.",
        "recall": "Search memories, conversations and notes.",
        "chat": "Talk with a model that remembers, or with memory alone.",
        "memories": "List, show, edit, archive, forget and restore memories.",
        "notes": "Let recall find your notes, and follow them as they change.",
        "contacts": "Find the people that memories mention.",
        "undo": "Undo changes of memories.",
        "status": "Show the home, the vault, the search and the key.",
    },
    "Conversations": {
        "import": "Import conversations and memories of other programs.",
        "sessions": "List, show, extend, export and delete conversations.",
        "consolidate": "Turn finished conversations into memories.",
        "review": "Approve or reject what was found in conversations.",
        "learnings": "Keep what agents learn about working with you.",
        "projects": "Keep what belongs to a folder apart.",
        "history": "Keep the commands of your shells, and find them again.",
    },
    "Agents": {
        "mcp": "Connect Claude Code, Codex, Gemini CLI and others.",
        "context": "Show what a model would see, and what it costs.",
        "hook": "Answer one event of an agent; hooks call it.",
        "extensions": "Install what others wrote for agents.",
        "policy": "Check the rules about tools and memory.",
        "tasks": "Keep the tasks of agent servers.",
        "state": "Keep what a user interface knows between runs.",
        "accounts": "Keep your accounts at services.",
        "credentials": "Store API keys and OAuth tokens for other services.",
    },
    "Safety": {
        "backup": "Make a backup and test that it restores.",
        "restore": "Restore a home, or some of its vaults.",
        "export": "Write everything into an archive that any program reads.",
        "purge": "Erase for good, with a signed receipt.",
        "quarantine": "Hide everything from one source.",
        "lifecycle": "Preview and run what retention rules make due.",
        "encryption": "Show who holds the key; make or use a recovery code.",
        "doctor": "Check everything that can go wrong, and explain it.",
        "repair": "Copy the readable rows of a damaged vault into a new one.",
        "events": "List what happened, newest first.",
    },
    "Admin": {
        "serve": "Run the daemon: upkeep, HTTP, MCP and the console.",
        "connect": "Use the vault of a server from this machine.",
        "console": "Print a link that signs you in to the console.",
        "daemon": "Show what the daemon does, and run a round now.",
        "settings": "Show and change settings.",
        "models": "List the models that are in use, and how to get others.",
        "users": "Add, list and merge people; tenants and grants.",
        "keys": "Make, list, rotate and revoke API keys.",
        "index": "Show, update, rebuild and verify the search index.",
        "upgrade": "Migrate every vault to this program's schema.",
        "move": "Move vaults between files and a PostgreSQL database.",
        "bench": "Measure this installation in a temporary home.",
    },
}
_OTHERS = "More"
#: What people type, and the command that does it.
MEANT: Mapping[str, str] = {
    **dict.fromkeys(("search", "find", "query", "lookup", "grep"), "recall WORDS"),
    **dict.fromkeys(("add", "save", "store", "keep", "memorize", "memorise", "note"), "remember TEXT"),
    **dict.fromkeys(("ls", "list"), "memories list"),
    **dict.fromkeys(("show", "get", "cat"), "memories show ID"),
    **dict.fromkeys(("forget", "delete", "remove", "rm"), "memories forget ID"),
    **dict.fromkeys(("edit", "update"), "memories edit ID"),
    **dict.fromkeys(("erase", "destroy", "wipe"), "purge --help"),
    **dict.fromkeys(("ask", "talk"), "chat"),
    **dict.fromkeys(("config", "configure", "set"), "settings --help"),
    **dict.fromkeys(("setup", "new", "create"), "init"),
    **dict.fromkeys(("install",), "mcp install --help"),
    **dict.fromkeys(("server", "start", "run"), "serve"),
    **dict.fromkeys(("info",), "status"),
    **dict.fromkeys(("check", "verify", "health"), "doctor"),
    **dict.fromkeys(("load", "ingest"), "import PATH"),
    **dict.fromkeys(("dump",), "export PATH"),
    **dict.fromkeys(("person", "people", "user"), "users list"),
    **dict.fromkeys(("conversations", "chats"), "sessions list"),
    **dict.fromkeys(("learn", "distil", "extract"), "consolidate"),
    **dict.fromkeys(("retention", "expire"), "lifecycle preview"),
    **dict.fromkeys(("log", "audit"), "events"),
    **dict.fromkeys(("ui", "web", "dashboard"), "console"),
    **dict.fromkeys(("embed", "reindex"), "index update"),
    **dict.fromkeys(("migrate",), "upgrade"),
}
#: How alike two names are when one is taken for a slip of the other.
_ALIKE = 0.7


class _HelpPage(Protocol):
    """Where the parser writes a page of help."""

    def section(self, name: str) -> AbstractContextManager[object]:
        """Write a heading, and indent what follows."""
        ...

    def write_dl(self, rows: Sequence[tuple[str, str]]) -> None:
        """Write names and sentences in two columns."""
        ...


class CommandGroup(TyperGroup):
    """A group whose help shows the first sentence of every command in full."""

    def format_commands(self, ctx: object, formatter: _HelpPage) -> None:
        """Write the commands, one entry each; long sentences continue on the next line."""
        del ctx
        _write(formatter, "Commands", {name: _first_sentence(self, name) for name in self.commands})

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:  # noqa: ANN401 - typer keeps its types private
        """Return the command of the line; raise with the one that the name may have meant."""
        if args and args[0] not in self.commands and not args[0].startswith("-"):
            _refuse(self, ctx.command_path, args[0])
        return super().resolve_command(ctx, args)


class RootGroup(CommandGroup):
    """The program itself: its help shows the commands by what they are for."""

    def format_commands(self, ctx: object, formatter: _HelpPage) -> None:
        """Write the commands in their groups."""
        del ctx
        for title, entries in PANELS.items():
            _write(formatter, title, {name: words for name, words in entries.items() if name in self.commands})
        known = {name for entries in PANELS.values() for name in entries}
        _write(formatter, _OTHERS, {name: _first_sentence(self, name) for name in self.commands if name not in known})


def as_typed(arguments: list[str]) -> list[str]:
    """Return the line with `help` and `version` in the place of a command as the options that they mean."""
    match arguments:
        case ["version"]:
            return ["--version"]
        case ["help", *words] if not any(word.startswith("-") for word in words):
            return [*words, "--help"]
        case _:
            return arguments


def _write(formatter: _HelpPage, title: str, entries: Mapping[str, str]) -> None:
    if entries:
        with formatter.section(title):
            formatter.write_dl(list(entries.items()))


def _first_sentence(group: TyperGroup, name: str) -> str:
    paragraph = " ".join((group.commands[name].help or "").partition("\n\n")[0].split())
    return paragraph.partition(". ")[0].removesuffix(".") + "."


def _refuse(group: TyperGroup, path: str, name: str) -> NoReturn:
    shown = name if len(name) <= 40 else f"{name[:40]}…"
    near = _suggest(group, path, name)
    cure = f"did you mean: {near}" if near else f"see: {path} --help"
    where = "" if isinstance(group, RootGroup) else f" in {path}"
    raise Misuse(f"there is no command {shown!r}{where}; {cure}")


def _suggest(group: TyperGroup, path: str, name: str) -> str | None:
    """Return the whole line of the command that a name may have meant."""
    wanted = name.casefold()
    if isinstance(group, RootGroup) and wanted in MEANT:
        return f"{path} {MEANT[wanted]}"
    if wanted in group.commands:
        return f"{path} {wanted}"
    deeper = [f"{path} {inside}" for inside in _below(group) if inside.rpartition(" ")[2] == wanted]
    if deeper:
        return min(deeper, key=lambda line: (len(line.split()), line))
    near = get_close_matches(wanted, [*group.commands, *_common(group)], n=1, cutoff=_ALIKE)
    if not near:
        return None
    return f"{path} {near[0] if near[0] in group.commands else MEANT[near[0]]}"


def _common(group: TyperGroup) -> list[str]:
    return list(MEANT) if isinstance(group, RootGroup) else []


def _below(group: TyperGroup) -> Iterator[str]:
    for name, one in group.commands.items():
        if isinstance(one, TyperGroup):
            yield from (f"{name} {word}" for word in one.commands)
            yield from (f"{name} {word}" for word in _below(one))
