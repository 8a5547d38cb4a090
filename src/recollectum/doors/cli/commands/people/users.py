"""`recollectum users`: lists, adds, links and merges people and their channel addresses."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.access.person import DEFAULT_TENANT, Merge, MergePreview, Person
from recollectum.doors.cli.terminal.flags import Run, command, format_owner, new_group, parse_owner
from recollectum.doors.cli.terminal.output import answer, answer_rows, listing, note, plural
from recollectum.doors.cli.terminal.prompts import confirm
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_home

if TYPE_CHECKING:
    from recollectum.engine import Recollectum

app = new_group("Add, list and merge people, and link the channel addresses that belong to them.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name, or an owner such as agent:coder.")]
Address = Annotated[str, typer.Argument(metavar="IDENTITY", help="CHANNEL:ADDRESS, such as telegram:42.")]


@command(app, "list")
def list_users(run: Run) -> None:
    """List everybody by name."""
    with open_home(run) as recollectum:
        found = recollectum.people.list()
    rows = [(format_owner(person.owner), person.tenant, person.created_at, _addresses(person)) for person in found]
    answer_rows(run, {"users": found}, ("name", "tenant", "added", "identities"), rows)
    if not found:
        note("no users")


@command(app, "add")
def add(
    run: Run,
    name: Name,
    *,
    tenant: Annotated[str, typer.Option(help="The tenant whose retention rules apply.")] = DEFAULT_TENANT,
) -> None:
    """Add a person; a name that is taken, or looks like one that is, is refused."""
    with open_home(run) as recollectum:
        person = recollectum.people.add(parse_owner(name), tenant=tenant)
    answer(run, {"user": person}, [f"added {format_owner(person.owner)} to tenant {person.tenant}"])


@command(app, "show")
def show(run: Run, name: Name) -> None:
    """Show one person."""
    with open_home(run) as recollectum:
        person = recollectum.people.get(parse_owner(name))
    _answer_person(run, person)


@command(app, "link")
def link(run: Run, name: Name, identity: Address) -> None:
    """Give a person a channel address; an address belongs to one person only."""
    with open_home(run) as recollectum:
        person = recollectum.people.add_identity(parse_owner(name), identity)
    _answer_person(run, person)


@command(app, "unlink")
def unlink(run: Run, name: Name, identity: Address) -> None:
    """Remove a channel address from a person."""
    with open_home(run) as recollectum:
        person = recollectum.people.remove_identity(parse_owner(name), identity)
    _answer_person(run, person)


@command(app, "merge")
def merge(
    run: Run,
    kept: Annotated[str, typer.Argument(metavar="KEPT", help="The person to keep.")],
    merged: Annotated[str, typer.Argument(metavar="OTHER", help="The person to merge into the other.")],
    *,
    yes: Annotated[bool, typer.Option("--yes", help="Do it without asking.")] = False,
) -> None:
    """Merge two people: addresses, keys and grants move, vaults stay separate, and it can be undone."""
    with open_home(run) as recollectum:
        seen = recollectum.people.preview_merge(parse_owner(kept), parse_owner(merged))
        for line in _preview(recollectum, seen):
            note(line)
        if not confirm(f"{format_owner(seen.merged)} becomes part of {format_owner(seen.kept)}", yes=yes):
            note("nothing was merged")
            raise typer.Exit(1)
        done = recollectum.people.merge(seen.kept, seen.merged, seen.token)
    answer(run, {"merge": done, "preview": seen}, [done.id])


@command(app, "unmerge")
def unmerge(run: Run, merge_id: Annotated[str, typer.Argument(metavar="ID", help="The merge's id.")]) -> None:
    """Undo a merge; what was removed since is not brought back."""
    with open_home(run) as recollectum:
        done = recollectum.people.unmerge(merge_id)
    answer(run, {"merge": done}, [one_line(f"{format_owner(done.merged)} has {_moved(done)} again")])


@command(app, "merges")
def list_merges(run: Run) -> None:
    """List who was merged into whom, oldest first."""
    with open_home(run) as recollectum:
        found = recollectum.people.list_merges()
    rows = [
        (one.id, format_owner(one.kept), format_owner(one.merged), one.merged_at, one.undone_at, one.merged_by)
        for one in found
    ]
    answer_rows(run, {"merges": found}, ("id", "kept", "merged", "when", "undone", "by"), rows)
    if not found:
        note("no merges")


def _preview(recollectum: "Recollectum", seen: MergePreview) -> list[str]:
    """Return what the person is told before the confirmation."""
    lines = [f"{_moved(seen)} of {format_owner(seen.merged)} would move to {format_owner(seen.kept)}"]
    lines += [f"identity {identity}" for identity in seen.identities]
    for owner in (*seen.kept_vaults, *seen.merged_vaults):
        held = recollectum.vault(owner, create=False).admin.totals()
        counts = f"{plural(sum(held.memories.values()), 'memory')} and {plural(held.sessions, 'session')}"
        lines.append(f"the vault of {owner} has {counts}, and stays as it is")
    return [*lines, seen.effect]


def _moved(what: MergePreview | Merge) -> str:
    count = plural(len(what.identities), "identity")
    keys = "1 key" if len(what.keys) == 1 else f"{len(what.keys)} keys"
    return f"{count}, {plural(len(what.grants), 'grant')} and {keys}"


def _answer_person(run: Run, person: Person) -> None:
    details = [
        ("name", format_owner(person.owner)),
        ("owner", person.owner),
        ("tenant", person.tenant),
        ("added", person.created_at),
        ("identities", _addresses(person) or "none"),
    ]
    answer(run, {"user": person}, listing(details))


def _addresses(person: Person) -> str:
    return ", ".join(map(str, person.identities))
