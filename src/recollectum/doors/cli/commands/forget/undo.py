"""`recollectum undo`: undoes changes of memories, and shows what changed since a time."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, moment, note, plural, working
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault
from recollectum.doors.cli.terminal.times import parse_time

if TYPE_CHECKING:
    from recollectum.vault.undo.diff import Diff
    from recollectum.vault.undo.service import Undone
    from recollectum.vault.undo.steps import UndoStep
    from recollectum.vault.vault import Vault

_RUN = "run_"


app = new_group("Undo changes of memories, list what can be undone, and show what changed since a time.")


@command(app, "last")
def last(
    run: Run, count: Annotated[int, typer.Argument(metavar="[N]", help="How many changes; default: the last one.")] = 1
) -> None:
    """Undo the last changes: saved, edited, superseded, archived, restored or forgotten. Undo again to redo."""
    with open_user_vault(run) as vault:
        done = vault.privacy.undo.last(count)
    _answer(run, done)


@command(app, "event")
def event(
    run: Run,
    number: Annotated[str, typer.Argument(metavar="EVENT", help="From `recollectum events`, or a consolidation run.")],
) -> None:
    """Undo one change, or all that one consolidation run did."""
    with open_user_vault(run) as vault:
        done = _undo(vault, number)
    _answer(run, done)


@command(app, "import")
def import_(
    run: Run,
    import_id: Annotated[str, typer.Argument(metavar="ID", help="An import of `recollectum sessions imports`.")],
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be removed.")] = False,
) -> None:
    """Undo a whole import: its messages are quarantined, and memories learned from them go to the trash."""
    with open_user_vault(run) as vault:
        if dry_run:
            found = vault.privacy.quarantine.preview(f"import:{import_id}")
            counts = {"messages": len(found.messages), "memories": len(found.memories)}
            told = (
                f"{plural(counts['messages'], 'message')} and {plural(counts['memories'], 'memory')} would be removed"
            )
            answer(run, {"import": import_id, **counts}, [told])
            return
        done = vault.privacy.undo.brought(import_id)
    told = f"{plural(done.messages, 'message')} quarantined, {plural(done.memories, 'memory')} in the trash"
    answer(run, {"quarantine": done}, [told])
    note(f"to restore it: recollectum quarantine release {done.id}")


@command(app, "list")
def list_steps(run: Run, *, limit: Annotated[int, typer.Option(help="How many at most.")] = 10) -> None:
    """List the last changes that can be undone, newest first."""
    with open_user_vault(run) as vault:
        steps = vault.privacy.undo.list(limit=limit)
    answer(run, {"steps": [_plain(step) for step in steps]}, map(_told, steps))


@command(app, "diff")
def diff(
    run: Run,
    *,
    since: Annotated[str, typer.Option(metavar="DATE", help="2026-11-15, or with a time.")],
) -> None:
    """Show what was learned (+), changed (- and +), restored (+) and forgotten (-) since a time."""
    when = parse_time(since)
    with open_user_vault(run) as vault, working(run, "comparing memories"):
        found = vault.privacy.undo.diff(when)
    answer(run, {"diff": found}, map(one_line, _lines(found)))
    counts = (
        (len(found.learned), "learned"),
        (len(found.changed), "changed"),
        (len(found.restored), "restored"),
        (len(found.forgotten), "forgotten"),
    )
    told = [f"{plural(count, 'memory')} {what}" for count, what in counts if count]
    note(f"{', '.join(told) or 'nothing changed'} since {moment(when)}")


def _answer(run: Run, done: "Undone") -> None:
    document = {"undone": [_plain(step) for step in done.steps], "refused": done.refused, "event": done.event}
    answer(run, document, [f"undone: {_told(step)}" for step in done.steps])
    for one in done.refused:
        note(f"not undone: {one.why}")
    if done.event is not None:
        note(f"to redo it: recollectum undo event {done.event}")


def _undo(vault: "Vault", number: str) -> "Undone":
    if number.startswith(_RUN):
        return vault.privacy.undo.run(number)
    # A row number does not have more digits.
    if not (number.isascii() and number.isdecimal() and len(number) < 19):
        raise Misuse(
            f"{number!r} is not an event; give a number of `recollectum events`, or the id of a consolidation run"
        )
    return vault.privacy.undo.event(int(number))


def _plain(step: "UndoStep") -> dict[str, object]:
    return {
        "event": step.event,
        "at": step.at,
        "type": step.type,
        "actor": step.actor,
        "subjects": step.subjects,
        "runs": step.run_ids,
    }


def _told(step: "UndoStep") -> str:
    what = f"run {' '.join(step.run_ids)}" if step.run_ids else f"{' '.join(step.subjects)} {step.type}"
    return one_line(f"{what} by {step.actor}, {moment(step.at)}, event {step.event}")


def _lines(found: "Diff") -> Iterator[str]:
    for one in (*found.learned, *found.restored):
        yield f"+ {one.id} {one.content}"
    for pair in found.changed:
        yield f"- {pair.before.id} {pair.before.content}"
        yield f"+ {pair.after.id} {pair.after.content}"
    for gone in found.forgotten:
        yield f"- {gone.memory_id} {gone.memory.content if gone.memory else '...'} ({gone.state})"
