"""`recollectum notes`: follows folders of notes, and edits the note that is part of every context."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.embedding import embed_new
from recollectum.doors.cli.terminal.errors import Misuse
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.followed_files import ReportLines, answer_report, kept_elsewhere, sync_with_progress
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural
from recollectum.doors.cli.terminal.prompts import edit_text, is_interactive, read_text_or_stdin
from recollectum.doors.cli.terminal.sanitise import one_line, visible
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.domain.files.note import SyncReport
    from recollectum.vault.vault import Vault

app = new_group("Let recall find your notes, and follow them as they change.")
Folder = Annotated[str, typer.Argument(metavar="DIR", help="A folder with .md, .txt, .org or .rst files.")]


@command(app, "add")
def add(run: Run, folder: Folder) -> None:
    """Follow a folder from now on, and read its notes."""
    with open_user_vault(run) as vault:
        path = vault.admin.notes.add_folder(folder).path
        report = _synced(run, vault)
        followed = next((one for one in vault.admin.notes.list_folders() if one.path == path), None)
    answer_report(run, {"folder": followed, "report": report}, _lines(report), followed=path)


@command(app, "list")
def list_folders(run: Run) -> None:
    """List the followed folders."""
    with open_user_vault(run) as vault:
        found = vault.admin.notes.list_folders()
        other = vault.admin.file_hosts.find_other()
    rows = [(one.path, one.notes, one.added_at) for one in found]
    answer_rows(run, {"folders": found}, ("folder", "notes", "since"), rows)
    for line in kept_elsewhere(other):
        note(line)
    if not found:
        note("no folder is followed; add one with: recollectum notes add DIR")


@command(app, "sync")
def sync(run: Run) -> None:
    """Sync the vault with the folders."""
    with open_user_vault(run) as vault:
        report = _synced(run, vault)
    answer_report(run, {"report": report}, _lines(report))


@command(app, "remove")
def remove(run: Run, folder: Folder) -> None:
    """Unfollow a folder and remove its notes from the vault; the files stay unchanged."""
    with open_user_vault(run) as vault:
        removed = vault.admin.notes.remove_folder(folder)
    answer(run, {"removed": removed}, [f"{plural(removed, 'note')} removed from the vault"])


def _synced(run: Run, vault: "Vault") -> "SyncReport":
    report = sync_with_progress(run, "notes", vault.admin.notes.sync)
    embed_new(run, vault)
    return report


def _lines(report: "SyncReport") -> ReportLines:
    counts = (
        (report.added, "note", "added"),
        (report.changed, "note", "changed"),
        (report.renamed, "note", "renamed"),
        (report.removed, "note", "removed"),
        (report.unchanged, "note", "as before"),
    )
    reasons = [*kept_elsewhere(report.kept_by), *(f"{path} {why}" for path, why in report.skipped)]
    return ReportLines(counts=counts, nothing="no notes", reasons=reasons, notice=report.notice)


global_app = new_group("Show or edit MEMORY.md, which is part of every context.")


@command(global_app, "show")
def show(run: Run) -> None:
    """Show the file."""
    with open_user_vault(run) as vault:
        found = vault.admin.global_notes.read()
    answer(run, {"notes": found}, [visible(found.text)] if found.text else [])
    if not found.text:
        note("there are no global notes; write some with: recollectum notes global edit")


@command(global_app, "path")
def path(run: Run) -> None:
    """Show the path of the file; any editor may write it."""
    with open_user_vault(run) as vault:
        found = vault.admin.global_notes.read()
    answer(run, {"path": found.path}, [one_line(str(found.path))])


@command(global_app, "edit")
def edit(
    run: Run,
    text: Annotated[str | None, typer.Argument(metavar="TEXT", help="The new text; `-` reads stdin.")] = None,
) -> None:
    """Write the file; without a text, your editor opens."""
    if text is None and not is_interactive():
        raise Misuse("there is nothing to write; give a text, or - to read it from stdin")
    with open_user_vault(run) as vault:
        before = vault.admin.global_notes.read()
        after = edit_text(before.text, run.environ) if text is None else read_text_or_stdin(text)
        after += "\n" if after and not after.endswith("\n") else ""
        # Somebody else may have changed it while the editor was open.
        saved = vault.admin.global_notes.save(after, hash=before.hash)
    answer(run, {"notes": saved}, [one_line(f"{saved.path} is written")])
