"""`recollectum memories`: lists, shows, edits, compares and moves memories through their life."""

from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import NotFound
from recollectum.domain.ids import parse_optional_enum
from recollectum.domain.memory import Citation, Kind, Memory, State, parse_listable_state
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import (
    answer,
    answer_rows,
    listing,
    moment,
    note,
    tell,
    tell_of_more,
    working,
)
from recollectum.doors.cli.terminal.prompts import edit_text, is_interactive, read_text_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.doors.cli.terminal.target import open_user_vault, open_vault, totals_of
from recollectum.doors.cli.terminal.times import parse_time

if TYPE_CHECKING:
    from recollectum.domain.memory import Version
    from recollectum.doors.remote.vault import ServedVault
    from recollectum.vault.memories.history import History
    from recollectum.vault.vault import Vault

app = new_group("List, show, edit, archive, forget and restore memories.")
MemoryId = Annotated[str, typer.Argument(metavar="ID", help="The memory's id.")]


@command(app, "list")
def list_memories(
    run: Run,
    *,
    state: Annotated[str, typer.Option(help="active, archived, or soft_deleted (the trash).")] = State.ACTIVE.value,
    kind: Annotated[str | None, typer.Option(help="Only this kind.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    before: Annotated[str | None, typer.Option(metavar="ID", help="Only those older than this one.")] = None,
    full: Annotated[bool, typer.Option("--full", help="Whole texts, over several lines.")] = False,
) -> None:
    """List the newest memories in one state, one on each line."""
    with open_vault(run) as vault:
        wanted, sort = parse_listable_state(state), parse_optional_enum(Kind, kind, "kind")
        found = vault.memories.list(state=wanted, kind=sort, limit=limit, cursor=before)
        # Only the whole list has a known length; one of a kind would have to be counted row by row.
        totals = totals_of(vault) if found.next and not kind and not before else None
    _answer_list(run, found, full=full)
    if found.next:
        tell_of_more(len(found), totals.memories.get(wanted) if totals else None, found.next)
    if not found:
        note(f"no memories that are {state}")


@command(app, "show")
def show(run: Run, memory_id: MemoryId) -> None:
    """Show one memory with everything known about it, and the places in conversations that it came from."""
    with open_vault(run) as vault:
        memory, sources = vault.memories.get(memory_id), vault.memories.citations(memory_id)
    told = [*listing([*_details(memory), *(("from", _place(one)) for one in sources)]), "", visible(memory.content)]
    answer(run, {"memory": memory, "sources": sources}, told)


@command(app, "edit")
def edit(
    run: Run,
    memory_id: MemoryId,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The new text; `-` reads stdin.")] = None,
    *,
    importance: Annotated[float | None, typer.Option(help="From 0 to 1.")] = None,
    kind: Annotated[str | None, typer.Option(help="The new kind.")] = None,
    version: Annotated[int | None, typer.Option(help="Only if it is still at this version.")] = None,
) -> None:
    """Change a memory and keep its previous version; without a text, your editor opens."""
    with open_vault(run) as vault:
        if text is None and importance is None and kind is None:
            memory = _edit_by_hand(run, vault, memory_id, version)
        else:
            content = None if text is None else read_text_or_stdin(text)
            sort = parse_optional_enum(Kind, kind, "kind")
            memory = vault.memories.edit(memory_id, content, importance=importance, kind=sort, version=version)
    answer(run, {"memory": memory, "notice": memory.notice}, [f"{memory.id} is at version {memory.version}"])
    tell(memory.notice)


@command(app, "archive")
def archive(run: Run, memory_id: MemoryId) -> None:
    """Take a memory out of recall; it can still be shown and restored."""
    with open_vault(run) as vault:
        memory = vault.memories.move(memory_id, State.ARCHIVED)
    until = f", and deleted on {moment(memory.retention_expires_at)}" if memory.retention_expires_at else ""
    answer(run, {"memory": memory}, [f"{memory.id} is archived{until}"])


@command(app, "forget")
def forget(run: Run, memory_id: MemoryId) -> None:
    """Delete a memory: it is hidden now, and destroyed when its grace window ends."""
    with open_vault(run) as vault:
        memory = vault.memories.forget(memory_id)
    until = moment(memory.hard_delete_at)
    answer(run, {"memory": memory}, [f"{memory.id} is deleted; it can be restored until {until}, then it is destroyed"])


@command(app, "restore")
def restore(run: Run, memory_id: MemoryId) -> None:
    """Restore a memory from the archive, or from the trash while its grace window lasts."""
    with open_vault(run) as vault:
        memory = vault.memories.move(memory_id, "active")
    answer(run, {"memory": memory}, [f"{memory.id} is active again"])


@command(app, "supersede")
def supersede(
    run: Run,
    memory_id: MemoryId,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is true now; `-` reads stdin.")],
) -> None:
    """Replace a memory that is no longer true; the old one stays in the archive."""
    content = read_text_or_stdin(text)
    with open_user_vault(run) as vault:
        memory = vault.memories.supersede(memory_id, content)
    answer(run, {"memory": memory, "notice": memory.notice}, [memory.id])
    tell(memory.notice)


@command(app, "as-of")
def as_of(run: Run, date: Annotated[str, typer.Argument(metavar="DATE", help="2026-11-15, or with a time.")]) -> None:
    """List the memories that were active at a time, as they read then."""
    when = parse_time(date)
    with open_user_vault(run) as vault, working(run, "reading the history"):
        found = vault.memories.as_of(when)
    _answer_list(run, found)
    if not found:
        note(f"no memories were active on {moment(when)}")


def _answer_list(run: Run, found: list[Memory], *, full: bool = False) -> None:
    rows = [(memory.id, memory.created_at, memory.kind, memory.key, memory.content) for memory in found]
    answer_rows(run, {"memories": found}, ("id", "made", "kind", "key", "text"), rows, one_line_each=not full)


def _edit_by_hand(run: Run, vault: "Vault | ServedVault", memory_id: str, version: int | None) -> Memory:
    if not is_interactive():
        raise Misuse("there is nothing to change; give a new text, --importance or --kind")
    before = vault.memories.get(memory_id)
    text = edit_text(before.content, run.environ)
    if text == before.content:
        note("the text was not changed")
        return before
    # Somebody else may have changed it while the editor was open.
    return vault.memories.edit(memory_id, text, version=before.version if version is None else version)


def _place(one: Citation) -> str:
    return f"{one.session_id}, message {one.position} ({one.message_id}) [{one.start}:{one.end}]"


def _details(memory: Memory) -> list[tuple[str, object]]:
    return [
        ("id", memory.id),
        ("key", memory.key),
        ("kind", memory.kind),
        ("state", memory.state),
        ("importance", memory.importance),
        ("version", memory.version),
        ("trust", memory.trust),
        ("author", memory.author or None),
        ("agent", memory.agent),
        ("made", memory.created_at),
        ("changed", memory.updated_at),
        ("valid from", memory.valid_from),
        ("valid to", memory.valid_to),
        ("supersedes", memory.supersedes),
        ("superseded by", memory.superseded_by),
        ("archive due", memory.archive_at),
        ("deletion due", memory.retention_expires_at),
        ("expires", memory.expires_at),
    ]


def add_history_to(app: typer.Typer) -> None:
    """Add the commands to the group of memories."""
    command(app, "history")(history)
    command(app, "diff")(diff)


def history(run: Run, memory_id: MemoryId) -> None:
    """Show all versions and events of a memory."""
    with open_vault(run) as vault:
        found = vault.memories.history(memory_id)
    lines = [line for version in found.versions for line in _version(version)]
    happened = [f"{moment(event.at)}  {event.type} by {one_line(event.actor)}" for event in found.events]
    answer(run, {"versions": found.versions, "events": found.events}, [*lines, "", *happened])


def diff(
    run: Run,
    memory_id: MemoryId,
    old: Annotated[
        int | None, typer.Argument(metavar="V1", help="The older version; default: the last but one.")
    ] = None,
    new: Annotated[int | None, typer.Argument(metavar="V2", help="The newer version; default: the last.")] = None,
) -> None:
    """Show what changed between two versions of a memory."""
    if old is not None and new is None:
        raise Misuse("name two versions to compare, or none for the last two")
    with open_vault(run) as vault:
        found = vault.memories.history(memory_id)
    if len(found.versions) == 1 and old is None:
        answer(run, {"from": 1, "to": 1, "diff": ""}, [])
        note(f"memory {memory_id} has one version only")
        return
    *_, last_but_one, last = (version.version for version in found.versions)
    before = _numbered(found, last_but_one if old is None else old)
    after = _numbered(found, last if new is None else new)
    lines = _compare(before, after)
    answer(run, {"from": before.version, "to": after.version, "diff": "\n".join(lines)}, map(visible, lines))
    if not lines:
        note("the two versions have the same text")


def _numbered(found: "History", number: int) -> "Version":
    for version in found.versions:
        if version.version == number:
            return version
    last = found.versions[-1]
    raise NotFound(f"memory {last.memory_id!r} has no version {number}; it has 1 to {last.version}")


def _compare(before: "Version", after: "Version") -> list[str]:
    return list(
        unified_diff(
            before.content.splitlines(),
            after.content.splitlines(),
            f"version {before.version}",
            f"version {after.version}",
            moment(before.recorded_at),
            moment(after.recorded_at),
            lineterm="",
        )
    )


def _version(version: "Version") -> list[str]:
    until = f"until {moment(version.replaced_at)}" if version.replaced_at else "now"
    head = (
        f"version {version.version}: {moment(version.recorded_at)} {until}, by {one_line(version.author or 'unknown')}"
    )
    return [head, *("    " + line for line in visible(version.content).splitlines())]
