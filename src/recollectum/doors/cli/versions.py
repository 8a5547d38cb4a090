"""`recollectum memories history` and `diff`: what a memory has said, and what changed between two versions."""

from difflib import unified_diff
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import NotFound
from recollectum.doors.cli.edge import Misuse
from recollectum.doors.cli.flags import Run, command
from recollectum.doors.cli.memories import MemoryId
from recollectum.doors.cli.output import answer, moment, note
from recollectum.doors.cli.target import opened_vault
from recollectum.doors.cli.visible import one_line, visible

if TYPE_CHECKING:
    from recollectum.domain.memory import Version
    from recollectum.vault.history import History


def add_to(app: typer.Typer) -> None:
    """Give the commands to the group of memories."""
    command(app, "history")(history)
    command(app, "diff")(diff)


def history(run: Run, memory_id: MemoryId) -> None:
    """Show everything a memory has said, and everything that happened to it."""
    with opened_vault(run) as vault:
        found = vault.memories.history(memory_id)
    lines = [line for version in found.versions for line in _version(version)]
    happened = [f"{moment(event.at)}  {event.type} by {one_line(event.actor)}" for event in found.events]
    answer(run, {"versions": found.versions, "events": found.events}, [*lines, "", *happened])


def diff(
    run: Run,
    memory_id: MemoryId,
    old: Annotated[int | None, typer.Argument(metavar="V1", help="The older version; else the last but one.")] = None,
    new: Annotated[int | None, typer.Argument(metavar="V2", help="The newer version; else the last.")] = None,
) -> None:
    """Show what changed between two versions of a memory."""
    if old is not None and new is None:
        raise Misuse("name two versions to compare, or none for the last two")
    with opened_vault(run) as vault:
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
        note("the two versions say the same")


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
