"""`recollectum notes`: folders of Markdown files that recall finds too."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.flags import Run, command, new_group
from recollectum.doors.cli.output import answer, answer_rows, note, plural
from recollectum.doors.cli.progress import stepped
from recollectum.doors.cli.target import opened_vault
from recollectum.doors.cli.visible import one_line

if TYPE_CHECKING:
    from recollectum.domain.note import SyncReport
    from recollectum.vault.vault import Vault

app = new_group("Let recall find your Markdown notes, and follow them as they change.")

Folder = Annotated[str, typer.Argument(metavar="DIR", help="A folder with Markdown files.")]
#: Reasons that a person wants to read at once; --json has all of them.
_MOST_REASONS = 20


@command(app, "add")
def add(run: Run, folder: Folder) -> None:
    """Follow a folder from now on, and read what is in it."""
    with opened_vault(run) as vault:
        path = vault.notes.add(folder).path
        report = _synced(vault)
        followed = next((one for one in vault.notes.folders() if one.path == path), None)
    answer(run, {"folder": followed, "report": report}, [one_line(f"{path} is followed"), *_told(report)])
    _explain(report)


@command(app, "list")
def list_folders(run: Run) -> None:
    """List the folders that are followed."""
    with opened_vault(run) as vault:
        found = vault.notes.folders()
    rows = [(one.path, one.notes, one.added_at) for one in found]
    answer_rows(run, {"folders": found}, ("folder", "notes", "since"), rows)
    if not found:
        note("no folder is followed; add one with: recollectum notes add DIR")


@command(app, "sync")
def sync(run: Run) -> None:
    """Bring the vault up to what lies in the folders now."""
    with opened_vault(run) as vault:
        report = _synced(vault)
    answer(run, {"report": report}, _told(report))
    _explain(report)


@command(app, "remove")
def remove(run: Run, folder: Folder) -> None:
    """Follow a folder no more and take its notes out of the vault; the files stay as they are."""
    with opened_vault(run) as vault:
        removed = vault.notes.remove(folder)
    answer(run, {"removed": removed}, [f"{plural(removed, 'note')} taken out of the vault"])


def _synced(vault: "Vault") -> "SyncReport":
    with stepped("reading notes", None) as advance:
        return vault.notes.sync(advance)


def _told(report: "SyncReport") -> list[str]:
    counts = (
        ("added", report.added),
        ("changed", report.changed),
        ("renamed", report.renamed),
        ("removed", report.removed),
        ("as before", report.unchanged),
    )
    return [f"{plural(count, 'note')} {what}" for what, count in counts if count] or ["no notes"]


def _explain(report: "SyncReport") -> None:
    """What was left out, and why."""
    for path, why in report.skipped[:_MOST_REASONS]:
        note(f"{path} {why}")
    rest = len(report.skipped) - _MOST_REASONS
    if rest > 0:
        note(f"and {rest} more; --json names them all")
