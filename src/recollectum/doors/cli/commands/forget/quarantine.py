"""`recollectum quarantine`: takes everything of one source out of recall, and lets it back."""

from typing import Annotated

import typer

from recollectum.domain.page import every
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.target import open_user_vault

app = new_group("Quarantine everything from one source, list quarantines, and release them.")

_Source = Annotated[
    str,
    typer.Argument(
        metavar="SOURCE", help="session:ID, agent:NAME, tool:NAME, import:ID, author:NAME, or imported for all imports."
    ),
]


@command(app, "put")
def put(
    run: Run,
    source: _Source,
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only count what would be quarantined.")] = False,
) -> None:
    """Take everything of a source out of recall and contexts, also what it writes later; nothing is deleted."""
    with open_user_vault(run) as vault:
        found = vault.privacy.quarantine.preview(source)
        messages, memories = len(found.messages), len(found.memories)
        told = f"{plural(messages, 'message')} and {plural(memories, 'memory')}"
        if dry_run:
            answer(
                run, {"source": source, "messages": messages, "memories": memories}, [f"{told} would be quarantined"]
            )
            return
        if not confirm(f"{told} would be quarantined", yes=yes):
            note("nothing was quarantined")
            raise typer.Exit(FAILED)
        done = vault.privacy.quarantine.add(source)
    answer(run, {"quarantine": done}, [f"{done.id}: {told} quarantined"])
    note(f"to release it: recollectum quarantine release {done.id}")
    note(f"to destroy it: recollectum purge source quarantine:{done.id}")


@command(app, "list")
def list_quarantines(run: Run) -> None:
    """List the quarantines, newest first, including released ones."""
    with open_user_vault(run) as vault:
        found = list(every(lambda cursor: vault.privacy.quarantine.list(cursor=cursor)))
    rows = [(one.id, one.source, one.at, one.by, one.messages, one.memories, one.released_at) for one in found]
    names = ("id", "source", "at", "by", "messages", "memories", "released")
    answer_rows(run, {"quarantines": found}, names, rows)
    if not found:
        note("nothing is quarantined")


@command(app, "release")
def release(
    run: Run, quarantine_id: Annotated[str, typer.Argument(metavar="ID", help="The id of a quarantine.")]
) -> None:
    """Release a quarantine, so that its source is recalled again."""
    with open_user_vault(run) as vault:
        done = vault.privacy.quarantine.release(quarantine_id)
    told = f"{plural(done.messages, 'message')} and {plural(done.memories, 'memory')}are recalled again"
    document = {"quarantine": done.quarantine, "messages": done.messages, "memories": done.memories, "left": done.left}
    answer(run, document, [told])
    for one in done.left:
        note(f"memory {one.memory_id} stays as it is: {one.why}")
