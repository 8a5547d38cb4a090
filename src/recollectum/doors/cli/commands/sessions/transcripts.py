"""`recollectum sessions transcripts`: follows the conversation files that other programs write."""

from typing import TYPE_CHECKING, Annotated

import typer

from recollectum.doors.cli.terminal.embedding import embed_new
from recollectum.doors.cli.terminal.flags import Run, command, new_group
from recollectum.doors.cli.terminal.followed_files import ReportLines, answer_report, kept_elsewhere, sync_with_progress
from recollectum.doors.cli.terminal.output import answer, answer_rows, note, plural
from recollectum.doors.cli.terminal.target import open_user_vault

if TYPE_CHECKING:
    from recollectum.domain.files.transcript import TranscriptReport
    from recollectum.vault.vault import Vault

app = new_group("Follow the transcripts of other programs, so that recall finds what was said there.")

Place = Annotated[str, typer.Argument(metavar="DIR|FILE", help="A transcript, or a folder with *.jsonl files.")]


@command(app, "follow")
def follow(
    run: Run,
    place: Place,
    *,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Keep its sessions under this agent.")] = None,
    channel: Annotated[str | None, typer.Option(metavar="NAME", help="Keep its sessions under this channel.")] = None,
) -> None:
    """Follow a transcript, or all in a folder, from now on, and import what is there."""
    with open_user_vault(run, create=True) as vault:
        path = vault.admin.transcripts.add(place, agent=agent, channel=channel).path
        report = _synced(run, vault)
        followed = next((one for one in vault.admin.transcripts.list() if one.path == path), None)
    answer_report(run, {"followed": followed, "report": report}, _lines(report), followed=path)


@command(app, "list")
def list_followed(run: Run) -> None:
    """List the followed paths."""
    with open_user_vault(run) as vault:
        found = vault.admin.transcripts.list()
    rows = [(one.path, one.files, one.agent, one.channel, one.added_at) for one in found]
    answer_rows(run, {"followed": found}, ("place", "files", "agent", "channel", "since"), rows)
    if not found:
        note("nothing is followed; follow a transcript with: recollectum sessions transcripts follow DIR|FILE")


@command(app, "sync")
def sync(run: Run) -> None:
    """Import the new lines of every transcript."""
    with open_user_vault(run) as vault:
        report = _synced(run, vault)
    answer_report(run, {"report": report}, _lines(report))


@command(app, "unfollow")
def unfollow(run: Run, place: Place) -> None:
    """Unfollow a path; the conversations stay in the vault, and the files unchanged."""
    with open_user_vault(run) as vault:
        files = vault.admin.transcripts.remove(place)
    answer(run, {"files": files}, [f"{plural(files, 'file')} unfollowed"])


def _synced(run: Run, vault: "Vault") -> "TranscriptReport":
    report = sync_with_progress(run, "transcripts", vault.admin.transcripts.sync)
    embed_new(run, vault)
    return report


def _lines(report: "TranscriptReport") -> ReportLines:
    counts = (
        (report.added, "message", "added"),
        (report.known, "message", "known already"),
        (report.echoes, "message", "left out as an echo of memory"),
        (report.reread, "file", "replaced or truncated, and read again"),
        (report.unchanged, "file", "as before"),
    )
    reasons = [*kept_elsewhere(report.kept_by), *(f"{path} line {line}: {why}" for path, line, why in report.damage)]
    reasons += [f"{path} {why}" for path, why in report.skipped]
    return ReportLines(counts=counts, nothing="nothing new", reasons=reasons, notice=report.notice)
