"""`recollectum learnings`: lists and edits what agents found out about working with a person."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import Conflict
from recollectum.domain.learning import check_category
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.followed_files import kept_elsewhere
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural, tell, tell_of_more
from recollectum.doors.cli.terminal.prompts import read_words_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.domain.learning import Learning, LearningsReport

app = new_group("Keep what agents learn about working with you, and edit it in LEARNINGS.md.")

Agent = Annotated[str | None, typer.Option(metavar="NAME", help="The agent; default: main.")]
Shared = Annotated[bool, typer.Option("--shared", help="The learnings that all agents share.")]


@command(app, "add")
def add(
    run: Run,
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="What was learned; `-` reads stdin.")],
    *,
    category: Annotated[str, typer.Option(help="preference, correction, pattern or tool_usage.")] = "preference",
    agent: Agent = None,
    shared: Shared = False,
) -> None:
    """Save a learning; one that is known already gets today's day."""
    content = read_words_or_stdin(text)
    with open_user_vault(run, create=True) as vault:
        learning = vault.learnings.save(content, check_category(category), agent=agent, shared=shared)
    answer(run, {"learning": _shape(learning), "notice": learning.notice}, [learning.id])
    tell(learning.notice)


@command(app, "list")
def list_learnings(
    run: Run,
    *,
    agent: Agent = None,
    shared: Shared = False,
    category: Annotated[str | None, typer.Option(help="Only this category.")] = None,
    limit: Annotated[int, typer.Option(help="How many at most.")] = 50,
    before: Annotated[str | None, typer.Option(metavar="ID", help="Only those older than this one.")] = None,
) -> None:
    """List the newest learnings of an agent and those that all agents share."""
    with open_user_vault(run) as vault:
        wanted = None if category is None else check_category(category)
        found = vault.learnings.list(agent=agent, shared=shared, category=wanted, limit=limit, cursor=before)
    rows = [(one.id, one.day.isoformat(), one.category, one.agent or "shared", one.text) for one in found]
    document = {"learnings": [_shape(one) for one in found]}
    answer_rows(run, document, ("id", "day", "category", "agent", "text"), rows, one_line_each=True)
    if found.next:
        tell_of_more(len(found), None, found.next)
    if not found:
        note("no learnings")


@command(app, "remove")
def remove(
    run: Run, memory_id: Annotated[str, typer.Argument(metavar="ID", help="The id that `learnings list` shows.")]
) -> None:
    """Forget a learning; it can be restored while its grace window lasts."""
    with open_user_vault(run) as vault:
        learning = vault.learnings.forget(memory_id)
    answer(
        run, {"learning": _shape(learning)}, [f"{learning.id} is in the trash; the next sync removes it from its file"]
    )


@command(app, "sync")
def sync(run: Run, *, agent: Agent = None, shared: Shared = False) -> None:
    """Sync LEARNINGS.md and the vault in both directions; the file is created if it is missing."""
    with open_user_vault(run) as vault:
        report = vault.learnings.sync(agent, shared=shared)
    if report.problem:
        raise Conflict(f"{report.problem}; nothing was changed")
    answer(run, {"report": report}, _told(report))
    for line in kept_elsewhere(report.kept_by):
        note(line)
    for clash in report.clashes:
        where = f"line {clash.line}" if clash.line else f"a line that showed {clash.memory_id}"
        note(f"{where} was {clash.why}; both are kept, look for Conflict in the file")
    tell(report.notice)


@command(app, "path")
def path(run: Run, *, agent: Agent = None, shared: Shared = False) -> None:
    """Show the path of the file, which the first sync creates."""
    with open_user_vault(run) as vault:
        found = vault.learnings.file(agent, shared=shared)
    answer(run, {"path": found}, [one_line(str(found))])


def _shape(learning: "Learning") -> dict[str, object]:
    return {
        "id": learning.id,
        "text": learning.text,
        "category": learning.category,
        "day": learning.day.isoformat(),
        "agent": learning.agent,
    }


def _told(report: "LearningsReport") -> list[str]:
    counts = (("added", report.added), ("edited", report.edited), ("forgotten", report.forgotten))
    lines = [f"{plural(count, 'learning')} {what} from the file" for what, count in counts if count]
    written = [one_line(f"{report.path} was updated")] if report.written else []
    return [*lines, *written] or ["nothing had changed"]
