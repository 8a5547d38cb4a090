"""`recollectum remember`: saves a text verbatim."""

from typing import Annotated

import typer

from recollectum.domain.ids import parse_enum
from recollectum.domain.memory import Kind, SaveOutcome
from recollectum.doors.cli.terminal.flags import Run, command
from recollectum.doors.cli.terminal.output import answer, note, tell
from recollectum.doors.cli.terminal.projects import project_place
from recollectum.doors.cli.terminal.prompts import read_words_or_stdin
from recollectum.doors.cli.terminal.target import open_vault
from recollectum.doors.cli.terminal.times import parse_duration, parse_time

_SENTENCES = {
    SaveOutcome.RENEWED: "known already, and renewed",
    SaveOutcome.CHANGED: "the key's previous text is kept in the history",
}


def add_to(app: typer.Typer) -> None:
    """Add the command to the app."""
    command(app, "remember")(remember)


def remember(
    run: Run,
    text: Annotated[
        list[str], typer.Argument(metavar="TEXT", help="What to keep, in one or more words; `-` reads it from stdin.")
    ],
    *,
    key: Annotated[
        str | None, typer.Option(metavar="KEY", help="A unique name; a new text under it replaces the old one.")
    ] = None,
    kind: Annotated[
        str, typer.Option(help="fact, preference, correction, pattern, tool_usage, project, task.")
    ] = "fact",
    importance: Annotated[float, typer.Option(help="From 0 to 1.")] = 0.5,
    ttl: Annotated[str | None, typer.Option(metavar="DURATION", help="Time to live: 10m, 2h, 30d …")] = None,
    valid_from: Annotated[str | None, typer.Option(metavar="DATE", help="True from this time on.")] = None,
    valid_to: Annotated[str | None, typer.Option(metavar="DATE", help="True until this time.")] = None,
    from_message: Annotated[str | None, typer.Option(metavar="ID", help="The message it came from.")] = None,
    project: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="Limit it to this project: a name, or a folder such as `.`.")
    ] = None,
) -> None:
    """Save a text verbatim, and print its id. A duplicate is renewed, not stored twice."""
    content = read_words_or_stdin(text)
    with open_vault(run, create=True) as vault:
        saved = vault.memories.save(
            content,
            key=key,
            kind=parse_enum(Kind, kind, "kind"),
            importance=importance,
            ttl=parse_duration(ttl) if ttl is not None else None,
            valid_from=parse_time(valid_from) if valid_from is not None else None,
            valid_to=parse_time(valid_to) if valid_to is not None else None,
            message_id=from_message,
            project=None if project is None else project_place(project),
        )
        answer(run, {"outcome": saved.outcome, "memory": saved.memory, "notice": saved.notice}, [saved.id])
        if saved.outcome in _SENTENCES:
            note(_SENTENCES[saved.outcome])
        tell(saved.notice)
