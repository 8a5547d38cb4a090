"""`recollectum notes global`: the Markdown file that is part of every context."""

from typing import Annotated

import typer

from recollectum.doors.cli.asking import on_terminal, text_or_stdin
from recollectum.doors.cli.edge import Misuse
from recollectum.doors.cli.editing import edited
from recollectum.doors.cli.flags import Run, command, new_group
from recollectum.doors.cli.output import answer, note
from recollectum.doors.cli.target import opened_vault
from recollectum.doors.cli.visible import one_line, visible

app = new_group("Show or edit MEMORY.md, which is part of every context.")


@command(app, "show")
def show(run: Run) -> None:
    """Show what the file says."""
    with opened_vault(run) as vault:
        found = vault.global_notes.read()
    answer(run, {"notes": found}, [visible(found.text)] if found.text else [])
    if not found.text:
        note("there are no global notes; write some with: recollectum notes global edit")


@command(app, "path")
def path(run: Run) -> None:
    """Show where the file is; any editor may write it."""
    with opened_vault(run) as vault:
        found = vault.global_notes.read()
    answer(run, {"path": found.path}, [one_line(str(found.path))])


@command(app, "edit")
def edit(
    run: Run,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The new text; `-` reads stdin.")] = None,
) -> None:
    """Write the file; without a text, your editor opens."""
    if text is None and not on_terminal():
        raise Misuse("there is nothing to write; give a text, or - to read it from stdin")
    with opened_vault(run) as vault:
        before = vault.global_notes.read()
        after = edited(before.text, run.environ) if text is None else text_or_stdin(text)
        after += "\n" if after and not after.endswith("\n") else ""
        # Somebody else may have changed it while the editor was open.
        saved = vault.global_notes.save(after, hash=before.hash)
    answer(run, {"notes": saved}, [one_line(f"{saved.path} is written")])
