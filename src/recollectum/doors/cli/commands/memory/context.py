"""`recollectum context`: shows what a model would see, and what each part of it costs."""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, note, plural
from recollectum.doors.cli.terminal.projects import current_project, project_place
from recollectum.doors.cli.terminal.prompts import read_words_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.doors.cli.terminal.target import open_vault

if TYPE_CHECKING:
    from recollectum.domain.context import Ledger
    from recollectum.doors.remote.vault import ServedVault
    from recollectum.vault.vault import Vault


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "context")(context)


def context(
    run: Run,
    query: Annotated[
        list[str] | None, typer.Argument(metavar="[QUERY]", help="What it is about; `-` reads it from stdin.")
    ] = None,
    *,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Add the last turns of this session.")] = None,
    tokens: Annotated[int | None, typer.Option(help="Maximum tokens of the context.")] = None,
    messages: Annotated[int | None, typer.Option(help="Maximum messages of the session.")] = None,
    memories: Annotated[int | None, typer.Option(help="Maximum recalled texts.")] = None,
    model: Annotated[str | None, typer.Option(metavar="NAME", help="Count tokens as this model does.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Only for this agent.")] = None,
    project: Annotated[
        str | None,
        typer.Option(metavar="PROJECT", help="For this project, instead of that of the working directory."),
    ] = None,
    all_projects: Annotated[bool, typer.Option("--all-projects", help="Leave out no project.")] = False,
    ledger: Annotated[bool, typer.Option("--ledger", help="Show what each part costs and what was left out.")] = False,
) -> None:
    """Show what a model would see: notes, profile, learnings, recalled texts, summary and the last turns."""
    asked = read_words_or_stdin(query) if query else ""
    with open_vault(run) as vault:
        made = vault.context(
            asked,
            session_id=session,
            tokens=tokens,
            messages=messages,
            memories=memories,
            model=model,
            agent=agent,
            project=_project(vault, project, session),
            all_projects=all_projects,
        )
    lines = ledger_lines(made.ledger) if ledger else visible(made.whole).splitlines()
    answer(run, made.to_dict(), lines)
    if not made.whole:
        note("there is nothing to show; remember something, or name a session with --session ID")


def _project(vault: "Vault | ServedVault", project: str | None, session: str | None) -> str | None:
    """Return the given project, else that of the session, which the vault knows, else that of the working directory."""
    if project is not None:
        return project_place(project)
    return None if session is not None else current_project(vault)


def ledger_lines(ledger: "Ledger") -> list[str]:
    """Return the ledger as a small table: what is in the context, the total, and what was left out."""
    rows = [(part.kind.value, str(len(part.ids)), str(part.tokens)) for part in ledger.parts]
    how = "exactly" if ledger.exact else "at most"
    return [
        *_table(("part", "items", "tokens"), [*rows, ("total", "", str(ledger.total))]),
        f"of {plural(ledger.budget.tokens, 'token')}, counted {how} ({ledger.counter})",
        *(one_line(f"left out: {group.count} of {group.kind.value}: {group.why}") for group in ledger.left_out),
    ]


def _table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    cells = [headings, *rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(headings))]
    for first, *others in cells:
        numbers = (cell.rjust(width) for cell, width in zip(others, widths[1:], strict=True))
        yield "  ".join((first.ljust(widths[0]), *numbers)).rstrip()
