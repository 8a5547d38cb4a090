"""`recollectum contacts`: resolves who somebody is and how they are reached, from memories."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer_rows, note
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.domain.contact import Contact

app = new_group("Find the people that memories mention, and how to reach them.")


@command(app, "resolve")
def resolve(
    run: Run, text: Annotated[str, typer.Argument(metavar="TEXT", help="A name, nickname or relation, such as mum.")]
) -> None:
    """Find the one person some words mean; exit code 1 with a question when it is not clear who or where."""
    with open_user_vault(run) as vault:
        found = vault.memories.contacts.resolve(text)
    rows = _reached(found.contact) if found.contact else []
    answer_rows(run, {"resolved": found}, ("address", "kind", "label", "who", "memory"), rows)
    if found.contact is None:
        note(f"recollectum: {found.question}")
        raise typer.Exit(1)


@command(app, "list")
def list_contacts(run: Run) -> None:
    """List everybody that memories describe, by name."""
    with open_user_vault(run) as vault:
        found = vault.memories.contacts.list()
    rows = [
        (
            one.name,
            ", ".join(one.relations),
            ", ".join(f"{at.address.label} {at.address.written} ({at.trust})".strip() for at in one.addresses),
            ", ".join(one.memory_ids),
        )
        for one in found
    ]
    answer_rows(run, {"contacts": found}, ("name", "relation", "addresses", "memories"), rows)
    if not found:
        note("no contacts; add one with: recollectum remember TEXT")


def _reached(contact: "Contact") -> list[tuple[str, ...]]:
    return [
        (one.address.value, one.address.kind, one.address.label, contact.described, one.memory_id)
        for one in contact.addresses
    ]
