"""`recollect recall`: what the vault knows, each hit with the place it came from."""

from typing import Annotated

import typer

from recollect.domain.hit import Hit, Source
from recollect.doors.cli.asking import text_or_stdin
from recollect.doors.cli.flags import Run, command
from recollect.doors.cli.output import answer, moment, note
from recollect.doors.cli.target import opened_vault
from recollect.doors.cli.visible import one_line, visible


def add_to(app: typer.Typer) -> None:
    """Give the command to the app."""
    command(app, "recall")(recall)


def recall(
    run: Run,
    query: Annotated[str, typer.Argument(metavar="QUERY", help="Any text; `-` reads it from stdin.")],
    *,
    limit: Annotated[int | None, typer.Option(help="How many hits at most.")] = None,
    source: Annotated[str | None, typer.Option(help="Only memories, or only sessions.")] = None,
    session: Annotated[str | None, typer.Option(metavar="ID", help="Only this session.")] = None,
    kind: Annotated[str | None, typer.Option(help="Only memories of this kind.")] = None,
) -> None:
    """Find what was remembered and said, best first, with its source, its author, its time and its trust."""
    wanted = text_or_stdin(query)
    with opened_vault(run) as vault:
        hits = vault.recall(wanted, limit=limit, source=source, session_id=session, kind=kind)
    answer(run, {"hits": hits}, (line for place, hit in enumerate(hits, start=1) for line in _lines(place, hit)))
    if not hits:
        note("nothing was found; recall looks for the words of the question, so try other ones")


def _lines(place: int, hit: Hit) -> list[str]:
    number = f"{place}. "
    indent = " " * len(number)
    first, *others = visible(hit.text).splitlines() or [""]
    told = f"by {hit.author or 'unknown'} · {moment(hit.created_at)} · trust: {hit.trust} · score {hit.score:.3g}"
    return [number + first, *(indent + line for line in others), indent + citation(hit.source), indent + one_line(told)]


def citation(source: Source) -> str:
    """The place of a text in words: the row, its characters, and the conversation behind it."""
    cited = str(source)
    if source.session_id is None:
        return cited
    message = f"message {source.position}" if source.position is not None else "a message"
    begun = "from" if source.memory_id else "in"
    return f"{cited} {begun} {source.session_id}, {message}"
