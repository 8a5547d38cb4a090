"""`recollectum mcp install`: writes Recollectum into an agent's configuration, or removes it."""

import os
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from recollectum.doors.cli.install.agents import (
    AGENT_NAMES,
    HARMLESS_TOOLS,
    HOOK_MODULE,
    ConfigFile,
    EntryPart,
    InstallRequest,
    InstallScope,
    KnownAgent,
    documents,
    parse_agent,
)
from recollectum.doors.cli.install.file_changes import FileChange, apply_changes, find_spare_copies, plan_changes
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, note, plural
from recollectum.doors.cli.terminal.prompts import ask, ask_secret, confirm, is_interactive
from recollectum.doors.cli.terminal.sanitise import visible
from recollectum.doors.cli.terminal.target import (
    USER_VARIABLE,
    account_name,
    connect_to,
    connection_of,
    place_of,
    settings_of,
)
from recollectum.home.credentials.connection import check_secret, check_url
from recollectum.home.paths import Home, home_root

_NAMES = ", ".join(KnownAgent)
#: More files than these are not named in a question.
_FEW = 4
_UNDO = "To undo: recollectum mcp uninstall"
_TRY = "what do you remember about me?"
#: What a person has to know about an agent besides.
_REMARKS = {
    KnownAgent.CODEX: "Codex runs a hook only once you trust it: start codex, type /hooks, trust those of Recollectum.",
    KnownAgent.CURSOR: "Cursor takes context from a hook at the start of a session only; at a prompt it records.",
}

#: A server may be far away: its answer has more time than that of a process on this machine.
_OVER_A_NETWORK = ("--within", "900")


def add_to(app: typer.Typer) -> None:
    """Add the commands to their group."""
    command(app, "install")(install)
    command(app, "uninstall")(uninstall)


def install(
    run: Run,
    agent: Annotated[KnownAgent, typer.Argument(parser=parse_agent, metavar="AGENT", help=f"One of {_NAMES}.")],
    *,
    scope: Annotated[
        InstallScope, typer.Option(help="For all work of this account, or for this project.")
    ] = InstallScope.USER,
    hooks: Annotated[bool, typer.Option("--hooks/--no-hooks", help="Recall and record without tool calls.")] = True,
    allow: Annotated[
        bool | None,
        typer.Option("--allow/--no-allow", help="Let it use the tools that erase nothing without asking."),
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show the change line by line.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Remove what was written.")] = False,
    url: Annotated[
        str | None, typer.Option("--url", metavar="URL", help="Use the vault of this server; its key is asked for.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="KEY", help="The key for --url; `-` or none reads it from stdin.")
    ] = None,
) -> None:
    """Let an agent use this memory: its tools, and hooks that recall and record."""
    _connect(run, url, key, changes_nothing=dry_run or undo)
    request = _install_request(run, scope, () if undo else _person(run))
    files = documents(agent, request)
    if undo:
        _remove(run, {"agent": agent.value}, files, dry_run=dry_run, diff=diff, yes=yes)
        return
    parts = {EntryPart.SERVER, *([EntryPart.HOOKS] if hooks else [])}
    if _offers(files) and (allow or (allow is None and (yes or dry_run or _wants_to_allow(agent, files)))):
        parts.add(EntryPart.ALLOW)
    changes = plan_changes(files, parts)
    _show(run, changes, diff=diff or dry_run)
    done = bool(changes) and not dry_run and confirm(_question(changes, agent), yes=yes)
    copies = apply_changes(changes) if done else []
    changed = _listed(changes) + ("; the previous versions are beside them" if copies else "")
    told = _told(agent, request, changed, parts) if done else []
    answer(run, {"agent": agent.value, **_document(changes, copies, done=done)}, map(visible, told))
    if not changes:
        note(f"{agent} is set up already; nothing to change")
    elif dry_run:
        note("nothing was changed; leave out --dry-run to do it")


def uninstall(
    run: Run,
    agents: Annotated[
        list[KnownAgent] | None,
        typer.Argument(parser=parse_agent, metavar="[AGENT]...", help=f"Of {_NAMES}; default: all of them."),
    ] = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would change, and change nothing.")] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Show the change line by line.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
) -> None:
    """Remove our entries and hooks from agents, of this account and of this folder; what is remembered stays."""
    # Imported here: no other command looks for services.
    from recollectum.doors.cli.install.services import service_files  # noqa: PLC0415

    requests = [_install_request(run, scope, ()) for scope in InstallScope]
    chosen = list(dict.fromkeys(agents or KnownAgent))
    files = [one for agent in chosen for request in requests for one in documents(agent, request)]
    # An account may be its own project folder, and then has each file once.
    unique = list({one.path: one for one in files}.values())
    services = [] if agents else service_files(requests[0])
    _remove(
        run, {"agents": [one.value for one in chosen]}, unique, services=services, dry_run=dry_run, diff=diff, yes=yes
    )


def _remove(
    run: Run,
    named: Mapping[str, str | list[str]],
    files: Sequence[ConfigFile],
    *,
    services: Sequence[FileChange] = (),
    dry_run: bool,
    diff: bool,
    yes: bool,
) -> None:
    """Remove what is ours, the copies that nobody needs any more, and end the process that answered the hooks."""
    changes = [*plan_changes(files, frozenset()), *services]
    names = ", ".join(one if isinstance(one, str) else ", ".join(one) for one in named.values())
    _show(run, changes, diff=diff or dry_run)
    question = _question(changes, names)
    done = bool(changes) and not dry_run and confirm(f"{question}; what is remembered stays", yes=yes)
    if done:
        apply_changes(changes, backup=False)
        _end_worker(run)
    # Copies of an earlier removal, which left them, go too.
    spare = find_spare_copies(files) if done or (not changes and not dry_run) else []
    for copy in spare:
        copy.unlink(missing_ok=True)
    told = [f"{names}: removed from {_listed(changes)}.", f"Everything remembered is still in {place_of(run).root}."]
    answer(run, {**named, **_document(changes, [], done=done)}, map(visible, told if done else []))
    if services and done:
        note("then run: systemctl --user daemon-reload; a daemon that still runs ends with: recollectum daemon stop")
    if not changes:
        note(f"nothing of ours is in the files of {names}; nothing to change")
    elif dry_run:
        note("nothing was changed; leave out --dry-run to do it")


def _end_worker(run: Run) -> None:
    """End the process that answers hooks; one of an agent that stays set up starts another."""
    # Imported here: only a removal needs it.
    from recollectum.doors.hook.delivery import stop_worker  # noqa: PLC0415

    stop_worker(place_of(run))


def _connect(run: Run, url: str | None, key: str | None, *, changes_nothing: bool) -> None:
    """Store the server and its key in the home, which the agent's entries name: the key is in none of its files."""
    if url is None:
        if key is not None:
            raise Misuse("--key goes with --url; give both")
        return
    if changes_nothing:
        raise Misuse("--url stores a server, so it does not go with --dry-run or --undo; use: recollectum connect")
    secret = ask_secret("API key") if key in (None, "-") else key
    connect_to(run, check_url(url), check_secret(secret.strip()), None)


def _install_request(run: Run, scope: InstallScope, person: Sequence[str]) -> InstallRequest:
    home = place_of(run)
    usual = Home(home_root(None, {**run.environ, "RECOLLECTUM_HOME": ""}))
    # The agent may be started without the variable that names another home.
    place = [] if home == usual else ["--home", str(home.root.absolute())]
    return InstallRequest(
        server=_program(),
        hook=[sys.executable, "-m", HOOK_MODULE, *([] if connection_of(run) is None else _OVER_A_NETWORK)],
        flags=[*person, *place],
        scope=scope,
        account=usual.root.parent,
        project=Path.cwd(),
        environ=run.environ,
    )


def _person(run: Run) -> list[str]:
    """Return the flag that names the person; none where a server is used, whose key says who it is."""
    connection = connection_of(run)
    if connection is not None:
        if run.user is not None:
            raise Misuse("--user has no meaning with a server: the key says who you are; leave it out")
        if not connection.stored:
            raise Misuse("an agent may be started without the variables; store the server: recollectum connect URL")
        return []
    user = run.user or run.environ.get(USER_VARIABLE) or settings_of(run).settings.default_user or account_name()
    return ["--user", user]


def _program() -> list[str]:
    """Return this installation's own program, wherever an agent is started from."""
    # Not resolved: the interpreter of a virtual environment is a link, and finds its packages by its own path.
    beside = Path(sys.executable).parent / ("recollectum.exe" if os.name == "nt" else "recollectum")
    return [str(beside)] if beside.exists() else [sys.executable, "-m", "recollectum.doors.cli.main"]


def _offers(files: Sequence[ConfigFile]) -> bool:
    """Return whether the agent can be told to use some tools without asking."""
    return any(entry.part is EntryPart.ALLOW for one in files for entry in one.entries)


def _wants_to_allow(agent: KnownAgent, files: Sequence[ConfigFile]) -> bool:
    """Ask whether the harmless tools may be used without asking, unless they may already."""
    if not is_interactive() or not plan_changes(files, set(EntryPart)):
        return True
    tools = ", ".join(HARMLESS_TOOLS)
    return ask(f"May {AGENT_NAMES[agent]} use {tools} without asking you each time? It still asks before it forgets.")


def _question(changes: Sequence[FileChange], names: str) -> str:
    which = _listed(changes) if len(changes) <= _FEW else "--dry-run shows them"
    return f"{plural(len(changes), 'file')} of {names} will be changed: {which}"


def _listed(changes: Sequence[FileChange]) -> str:
    return ", ".join(str(change.path) for change in changes)


def _show(run: Run, changes: Sequence[FileChange], *, diff: bool) -> None:
    if run.json or not diff:
        return
    for change in changes:
        for line in change.diff():
            print(visible(line))


def _document(changes: Sequence[FileChange], copies: Sequence[Path], *, done: bool) -> dict[str, object]:
    files = [{"file": str(change.path), "diff": change.diff()} for change in changes]
    return {"changed": done, "files": files, "backups": [str(copy) for copy in copies]}


def _told(agent: KnownAgent, request: InstallRequest, changed: str, parts: set[EntryPart]) -> list[str]:
    """Return four lines: what works now, what was changed, what to know, and what to try."""
    name = AGENT_NAMES[agent]
    whose = f"the memory of {request.flags[1]}" if "--user" in request.flags else "your memory on the server"
    hooks = " and hooks that recall and record" if EntryPart.HOOKS in parts else ", without hooks"
    works = f"{name} uses {whose}: tools{hooks}."
    if agent in _REMARKS and EntryPart.HOOKS in parts:
        remark = _REMARKS[agent]
    elif EntryPart.ALLOW in parts:
        remark = f"It uses {', '.join(HARMLESS_TOOLS)} without asking, and asks before it forgets."
    else:
        remark = "It asks before it uses a tool, unless its own settings say otherwise."
    return [
        works,
        f"Changed: {changed}.",
        remark,
        f"Restart {name}, then ask it: {_TRY} {_UNDO} {agent}",
    ]
