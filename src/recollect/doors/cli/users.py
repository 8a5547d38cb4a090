"""`recollect users`: who has a vault here, and under which channel addresses."""

from typing import Annotated

import typer

from recollect.domain.person import DEFAULT_TENANT, Person
from recollect.doors.cli.flags import Run, command, new_group
from recollect.doors.cli.output import answer, answer_rows, listing, note
from recollect.doors.cli.owners import spelled, to_owner
from recollect.doors.cli.target import opened

app = new_group("Add and list people, and link the channel addresses that belong to them.")

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name, or an owner such as agent:coder.")]
Address = Annotated[str, typer.Argument(metavar="IDENTITY", help="CHANNEL:ADDRESS, such as telegram:42.")]


@command(app, "list")
def list_users(run: Run) -> None:
    """List everybody by name."""
    with opened(run) as recollect:
        found = recollect.people.all()
    rows = [(spelled(person.owner), person.tenant, person.created_at, _addresses(person)) for person in found]
    answer_rows(run, {"users": found}, ("name", "tenant", "added", "identities"), rows)
    if not found:
        note("no users")


@command(app, "add")
def add(
    run: Run,
    name: Name,
    *,
    tenant: Annotated[str, typer.Option(help="Whose retention rules apply.")] = DEFAULT_TENANT,
) -> None:
    """Add a person; a name that is taken, or looks like one that is, is refused."""
    with opened(run) as recollect:
        person = recollect.people.add(to_owner(name), tenant=tenant)
    answer(run, {"user": person}, [f"added {spelled(person.owner)} to tenant {person.tenant}"])


@command(app, "show")
def show(run: Run, name: Name) -> None:
    """Show one person."""
    with opened(run) as recollect:
        person = recollect.people.get(to_owner(name))
    _answer_person(run, person)


@command(app, "link")
def link(run: Run, name: Name, identity: Address) -> None:
    """Give a person a channel address; an address belongs to one person only."""
    with opened(run) as recollect:
        person = recollect.people.link(to_owner(name), identity)
    _answer_person(run, person)


@command(app, "unlink")
def unlink(run: Run, name: Name, identity: Address) -> None:
    """Take a channel address from a person."""
    with opened(run) as recollect:
        person = recollect.people.unlink(to_owner(name), identity)
    _answer_person(run, person)


def _answer_person(run: Run, person: Person) -> None:
    details = [
        ("name", spelled(person.owner)),
        ("owner", person.owner),
        ("tenant", person.tenant),
        ("added", person.created_at),
        ("identities", _addresses(person) or "none"),
    ]
    answer(run, {"user": person}, listing(details))


def _addresses(person: Person) -> str:
    return ", ".join(map(str, person.identities))
