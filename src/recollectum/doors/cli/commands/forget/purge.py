"""`recollectum purge`: erases for good: a person, session, source, age, memory, project or history."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.commands.forget.receipts import shown, what_stays
from recollectum.doors.cli.commands.state.history import project_key
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, format_owner, new_group, parse_owner
from recollectum.doors.cli.terminal.output import answer, listing, note, plural, working
from recollectum.doors.cli.terminal.projects import project_place
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import check_user, open_home, open_person_vault, open_user_vault

if TYPE_CHECKING:
    from recollectum.doors.remote.vault import ServedVault
    from recollectum.vault.purge.request import Preview, PurgeRequest, Receipt
    from recollectum.vault.vault import Vault

app = new_group("Erase for good, after a preview and a confirmation, and get a signed receipt.")

Yes = Annotated[bool, typer.Option("--yes", help="Do it without asking.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Only show what would be erased.")]
Shred = Annotated[
    bool, typer.Option("--shred", help="Also give the vault a new key, so that nobody can read older copies of it.")
]
_IMPORTED = "imported"
_QUARANTINE = "quarantine:"


@command(app, "user")
def user(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The person, or an owner such as agent:coder.")],
    *,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase a person: keys and files of their vaults, addresses, keys, grants, and the name itself."""
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415 - `--help` must not wait for the engine

    owner = parse_owner(name)
    with open_person_vault(run, owner) as vault:
        _purge(run, vault, PurgeRequest.user(), format_owner(owner), yes=yes, dry_run=dry_run)


@command(app, "session")
def session(
    run: Run,
    ids: Annotated[list[str], typer.Argument(metavar="SESSION...", help="The sessions' ids.")],
    *,
    shred: Shred = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase conversations, and memories learned only from them."""
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415 - see above

    what = f"{plural(len(set(ids)), 'session')} and what was learned only from there"
    _in_vault(run, PurgeRequest.sessions(*ids, shred=shred), what, yes, dry_run)


@command(app, "source")
def source(
    run: Run,
    place: Annotated[
        str,
        typer.Argument(metavar="SOURCE", help="A followed folder or transcript path, `imported`, or quarantine:ID."),
    ],
    *,
    shred: Shred = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase what came from a source, and unfollow it; the files themselves are not touched."""
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415 - see above

    request = PurgeRequest.of_source(_source_of(place), shred=shred)
    _in_vault(run, request, "everything that came from there", yes, dry_run)


@command(app, "older-than")
def older_than(
    run: Run,
    days: Annotated[int, typer.Argument(metavar="DAYS", help="How many days ago.")],
    *,
    shred: Shred = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase messages said, memories last changed, and commands run, more than so many days ago."""
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415 - see above

    _in_vault(
        run, PurgeRequest.older_than(days, shred=shred), f"everything older than {plural(days, 'day')}", yes, dry_run
    )


@command(app, "memory")
def memory(
    run: Run,
    ids: Annotated[list[str], typer.Argument(metavar="MEMORY...", help="The memories' ids.")],
    *,
    shred: Shred = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase single memories with all their versions, at once and for good."""
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415 - see above

    _in_vault(run, PurgeRequest.memories(*ids, shred=shred), plural(len(set(ids)), "memory"), yes, dry_run)


@command(app, "project")
def project(
    run: Run,
    name: Annotated[str, typer.Argument(metavar="PROJECT", help="Its name, its id, or a folder such as `.`.")],
    *,
    shred: Shred = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase a project: memories, conversations, shell commands, its name and where it was; its files stay."""
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415 - see above

    with open_user_vault(run) as vault:
        found = vault.projects.get(project_place(name)).project
        request = PurgeRequest.projects(found.id, shred=shred)
        _purge(run, vault, request, f"everything of the project {found.shown}", yes=yes, dry_run=dry_run)


@command(app, "history")
def history(
    run: Run,
    *,
    project: Annotated[
        str | None, typer.Option(metavar="PROJECT", help="Only of this one: a name or a folder.")
    ] = None,
    shred: Shred = False,
    yes: Yes = False,
    dry_run: DryRun = False,
) -> None:
    """Erase the shell commands of a project, or all of them."""
    from recollectum.vault.purge.request import PurgeRequest  # noqa: PLC0415 - see above

    with open_user_vault(run) as vault:
        key = None if project is None else project_key(run, vault, project)
        what = "all shell commands" if key is None else "the shell commands of that project"
        _purge(run, vault, PurgeRequest.history(key, shred=shred), what, yes=yes, dry_run=dry_run)


@command(app, "finish")
def finish(run: Run) -> None:
    """Continue purges that had to wait, and search again for those that are unverified or failed."""
    with open_home(run) as recollectum, working(run, "erasing"):
        made = recollectum.receipts.finish() if recollectum.caller.operator else []
        made += recollectum.vault(check_user(recollectum, run)).privacy.purge.finish()
    answer(run, {"receipts": made}, [one_line(f"{one.id}: {one.state.value}") for one in made])
    if not made:
        note("no purge is unfinished")
    _leave(made)


def _source_of(place: str) -> str:
    """Return a source name; a path is made absolute, as the vault stores it."""
    if place == _IMPORTED or place.startswith(_QUARANTINE):
        return place
    return str(Path(place).expanduser().resolve())


def _in_vault(run: Run, request: "PurgeRequest", what: str, yes: bool, dry_run: bool) -> None:  # noqa: FBT001
    with open_user_vault(run) as vault:
        _purge(run, vault, request, what, yes=yes, dry_run=dry_run)


def _purge(
    run: Run, vault: "Vault | ServedVault", request: "PurgeRequest", what: str, *, yes: bool, dry_run: bool
) -> None:
    with working(run, "looking for what to erase"):
        seen = vault.privacy.purge.preview(request)
    if dry_run:
        answer(run, {"preview": seen}, _preview(seen))
        return
    for line in _preview(seen):
        note(line)
    asked = f"this would permanently erase {what}"
    refusal = f"Nothing was erased. This would permanently erase {what}; add --yes to confirm."
    if not confirm(asked, yes=yes, refusal=refusal):
        note("nothing was erased")
        raise typer.Exit(FAILED)
    with working(run, "erasing"):
        made = vault.privacy.purge.run(seen.token)
    answer(run, {"receipt": made}, shown(made))
    _leave([made])


def _preview(seen: "Preview") -> list[str]:
    """Return what the person is told before the confirmation."""
    rows = [(table, count) for table, count in seen.counts.items()]
    lines = listing(rows) or ["nothing would be erased"]
    if seen.memories_derived:
        lines.append(f"{plural(seen.memories_derived, 'memory')} are erased because all their sources are erased")
    if seen.memories_kept:
        lines.append(f"{plural(seen.memories_kept, 'memory')} stay, but lose some of their sources")
    lines += [one_line(f"the copy in {name} is destroyed too") for name in seen.backups]
    if seen.request.shred:
        lines.append("the vault gets a new key, and the old key is destroyed")
    if seen.unreadable:
        lines.append("nobody can read these any more afterwards, also not to restore them:")
        lines += [one_line(f"  {copy}") for copy in seen.unreadable]
    return [*lines, *what_stays(seen)]


def _leave(made: "list[Receipt]") -> None:
    """Exit with a failure code when the purge is not done."""
    for one in made:
        if one.reason:
            note(one.reason)
    if any(one.state.value != "done" for one in made):
        raise typer.Exit(FAILED)
