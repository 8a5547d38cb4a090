"""`recollectum purge receipts`: lists the signed receipts of purges, and verifies one."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.domain.errors import InvalidInput
from recollectum.doors.cli.terminal.errors import FAILED
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.output import answer, answer_rows, listing, note, plural
from recollectum.doors.cli.terminal.sanitise import one_line
from recollectum.doors.cli.terminal.target import open_home
from recollectum.home.files import read_regular

if TYPE_CHECKING:
    from recollectum.vault.purge.request import Preview, Receipt

_MOST_BYTES = 1024 * 1024

app = new_group("List, show and check the receipts of what was erased.")


@command(app, "list")
def list_receipts(run: Run) -> None:
    """List the receipts, oldest first."""
    with open_home(run) as recollectum:
        found = recollectum.receipts.list()
    rows = [(one.id, one.kind.value, one.state.value, one.at, one.by, one.hits) for one in found]
    answer_rows(run, {"receipts": found}, ("id", "what", "state", "when", "by", "hits"), rows)
    if not found:
        note("nothing was erased")


@command(app, "show")
def show(run: Run, receipt_id: Annotated[str, typer.Argument(metavar="ID", help="The receipt's id.")]) -> None:
    """Show one receipt; with --json, in the form that `verify` reads."""
    with open_home(run) as recollectum:
        found = recollectum.receipts.get(receipt_id)
    answer(run, {"receipt": found}, shown(found))


@command(app, "key")
def key(run: Run) -> None:
    """Print the public key that verifies this home's receipts."""
    with open_home(run) as recollectum:
        found = recollectum.receipts.key()
    answer(run, {"public_key": found}, [found])


@command(app, "verify")
def verify(
    run: Run,
    file: Annotated[
        Path | None, typer.Argument(metavar="FILE", help="A receipt as JSON; without it, all here.")
    ] = None,
) -> None:
    """Check that this home signed a receipt, and that no field of it was changed."""
    with open_home(run) as recollectum:
        found = recollectum.receipts.list() if file is None else [recollectum.receipts.parse(_text(file))]
        checked = {one.id: recollectum.receipts.verify(one) for one in found}
    lines = [
        one_line(f"{name}: {'genuine' if good else 'changed, or not from this home'}") for name, good in checked.items()
    ]
    answer(run, {"genuine": checked}, lines)
    if not all(checked.values()):
        raise typer.Exit(FAILED)


def shown(one: "Receipt") -> list[str]:
    """Return a receipt as lines for a person."""
    details: list[tuple[str, object]] = [
        ("receipt", one.id),
        ("erased", one.kind.value),
        ("state", one.state.value),
        ("when", one.at),
        ("by", one.by),
        ("request", one.request),
        *one.counts.items(),
        ("copies destroyed", one.backups_destroyed),
        ("old key destroyed", "yes" if one.shredded else None),
        ("files searched", one.files_scanned),
        ("found again", one.hits),
        ("found in", ", ".join(one.hit_files) or None),
        ("not searched", ", ".join(one.unread) or None),
    ]
    return [*listing(details), *what_stays(one)]


def what_stays(one: "Receipt | Preview") -> list[str]:
    """Return where what is erased, or the same words, can still be found."""
    lines: list[str] = []
    if one.excused:
        named = ", ".join(one.remaining) + (", ..." if one.excused > len(one.remaining) else "")
        lines.append(
            one_line(f"the same text is also in {plural(one.excused, 'other text')} ({named}); purge these too")
        )
    if one.elsewhere:
        lines.append(f"{plural(len(one.elsewhere), 'place')} outside the home may still hold it:")
        lines += [one_line(f"  {place}") for place in one.elsewhere]
    return lines


def _text(file: Path) -> str:
    try:
        return read_regular(file, _MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise InvalidInput(f"{file} is not UTF-8; give a receipt as it was exported") from None
