"""`recollectum undo`: takes the last changes of memories back."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, moment, note, plural
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.vault.undo.service import Undone
    from recollectum.vault.undo.steps import UndoStep
    from recollectum.vault.vault import Vault

_RUN = "run_"


def add_to(app: typer.Typer) -> None:
    """Give the command to the program."""
    command(app, "undo")(undo)


def undo(
    run: Run,
    event: Annotated[
        str | None, typer.Argument(metavar="[EVENT]", help="A number of `recollectum events`, or a consolidation run.")
    ] = None,
    *,
    last: Annotated[int | None, typer.Option(metavar="N", help="The last N changes; else the last one.")] = None,
    import_: Annotated[
        str | None, typer.Option("--import", metavar="ID", help="A whole import; see `recollectum sessions imports`.")
    ] = None,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Only list the last changes, or what an import is.")
    ] = False,
) -> None:
    """Undo changes of memories: saved, edited, superseded, archived, restored or forgotten. Undo again to redo."""
    if import_ is not None:
        _undo_import(run, import_, dry_run=dry_run, alone=event is None and last is None)
        return
    if event is not None and (last is not None or dry_run):
        raise Misuse("name an event or give --last, not both")
    with open_user_vault(run) as vault:
        if dry_run:
            steps = vault.privacy.undo.steps(10 if last is None else last)
            answer(run, {"steps": [_plain(step) for step in steps]}, map(_told, steps))
            return
        done = _undo(vault, event, 1 if last is None else last)
    document = {"undone": [_plain(step) for step in done.steps], "refused": done.refused, "event": done.event}
    answer(run, document, [f"undone: {_told(step)}" for step in done.steps])
    for one in done.refused:
        note(f"not undone: {one.why}")
    if done.event is not None:
        note(f"to bring it back: recollectum undo {done.event}")


def _undo_import(run: Run, import_id: str, *, dry_run: bool, alone: bool) -> None:
    if not alone:
        raise Misuse("give --import, or an event or --last, not both")
    with open_user_vault(run) as vault:
        if dry_run:
            found = vault.privacy.quarantine.preview(f"import:{import_id}")
            counts = {"messages": len(found.messages), "memories": len(found.memories)}
            told = f"{plural(counts['messages'], 'message')} and {plural(counts['memories'], 'memory')} would go"
            answer(run, {"import": import_id, **counts}, [told])
            return
        done = vault.privacy.undo.brought(import_id)
    told = f"{plural(done.messages, 'message')} set aside, {plural(done.memories, 'memory')} in the trash"
    answer(run, {"quarantine": done}, [told])
    note(f"to bring it back: recollectum quarantine release {done.id}")


def _undo(vault: "Vault", event: str | None, last: int) -> "Undone":
    if event is None:
        return vault.privacy.undo.last(last)
    if event.startswith(_RUN):
        return vault.privacy.undo.run(event)
    # More digits do not fit a row.
    if not (event.isascii() and event.isdecimal() and len(event) < 19):
        raise Misuse(f"{event!r} is no event; give a number of `recollectum events`, or the id of a consolidation run")
    return vault.privacy.undo.event(int(event))


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
